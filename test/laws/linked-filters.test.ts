import { sqliteStorage } from '../../adapters/kysely/index.ts'
import { memoryStorage } from '../../adapters/memory/index.ts'
import { mountOn } from '../adapters/sql/sql-http.ts'
import { linkedFilterLaws } from './linked-filters.ts'

linkedFilterLaws(
  'in memory',
  mountOn(async () => memoryStorage()),
)
linkedFilterLaws(
  'in SQLite',
  mountOn(() => sqliteStorage(':memory:')),
)
