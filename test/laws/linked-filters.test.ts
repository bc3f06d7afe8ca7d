import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
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
