import { defineCommand } from '../command-line/command.ts'

const STORAGE = {
  value: 'STORAGE',
  variable: true,
  summary: 'sqlite:FILE; default: the variable',
} as const
const FORCE = { summary: 'replace a file that is there' } as const

/** `portcullis snapshot`. */
export const SNAPSHOT = defineCommand({
  name: 'snapshot',
  summary: 'copy a SQLite storage while it is served',
  options: { storage: STORAGE, to: { value: 'FILE', summary: 'where the copy is put' }, force: FORCE },
  hasJson: true,
  details: 'A PostgreSQL database is copied with pg_dump.',
  examples: ['portcullis snapshot --storage sqlite:.portcullis/portcullis.sqlite --to monday.sqlite'],
  run: async (call) => {
    const { copyStorage } = await import('./stored-changes.ts')
    return copyStorage('snapshot', call)
  },
})

/** `portcullis restore`. */
export const RESTORE = defineCommand({
  name: 'restore',
  summary: 'put a copy in place of a SQLite storage that nobody serves',
  options: { storage: STORAGE, from: { value: 'FILE', summary: 'the copy' }, force: FORCE },
  hasJson: true,
  details: 'A PostgreSQL database is put back with pg_restore.',
  examples: ['portcullis restore --from monday.sqlite --storage sqlite:.portcullis/portcullis.sqlite --force'],
  run: async (call) => {
    const { copyStorage } = await import('./stored-changes.ts')
    return copyStorage('restore', call)
  },
})

/** `portcullis migrate`. */
export const MIGRATE = defineCommand({
  name: 'migrate',
  summary: 'bring the tables of a storage to this version',
  options: {
    storage: { ...STORAGE, summary: 'sqlite:FILE or postgres://…; default: the variable' },
    'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables' },
    schema: { value: 'NAME', variable: true, summary: 'PostgreSQL schema of the tables' },
    'dry-run': { summary: 'print the SQL instead' },
  },
  hasJson: true,
  examples: ['portcullis migrate --storage postgres://db/net --dry-run'],
  run: async (call) => {
    const { migrateStorage } = await import('./stored-changes.ts')
    return migrateStorage(call)
  },
})
