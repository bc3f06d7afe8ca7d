import type { CommandGroup } from '../command-line/help.ts'
import { EXPLAIN } from './explain/explain.ts'
import { SERVE } from './serve/serve.ts'
import { MIGRATE, RESTORE, SNAPSHOT } from './storage/storage.ts'

/** Every command of the program. */
export const COMMANDS: readonly CommandGroup[] = [
  { title: 'Serve', commands: [SERVE] },
  { title: 'Look after a storage', commands: [SNAPSHOT, RESTORE, MIGRATE] },
  { title: 'Ask', commands: [EXPLAIN] },
]
