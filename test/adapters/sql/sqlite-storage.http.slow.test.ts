import { sqliteStorage } from 'portcullis/kysely'
import { afterAll } from 'vitest'
import { httpContract } from '../../contract/http.ts'
import { STORAGE_PART } from '../../contract/http-part.ts'
import { emptiedStorages } from './sql-http.ts'

const { mount, close } = emptiedStorages(() => sqliteStorage(':memory:'))
afterAll(close)

httpContract('controller.fetch on SQLite', mount, STORAGE_PART)
