import { sqliteStorage } from '../../../adapters/kysely/index.ts'
import { httpContract } from '../../contract/http.ts'
import { mountOn, PART } from './sql-http.ts'

httpContract(
  'controller.fetch on SQLite',
  mountOn(() => sqliteStorage(':memory:')),
  PART,
)
