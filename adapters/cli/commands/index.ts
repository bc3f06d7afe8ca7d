import type { CommandGroup } from '../command-line/help.ts'
import { RESET_PASSWORD } from './admin/reset-password.ts'
import { completionCommand } from './completion/completion.ts'
import { DOCTOR } from './doctor/doctor.ts'
import { ENTITY_COMMANDS } from './entities/entities.ts'
import { EXPLAIN } from './explain/explain.ts'
import { IMPORT } from './import/import.ts'
import { INIT } from './init/init.ts'
import { LOGIN, LOGOUT, PROFILES } from './login/login.ts'
import { EXPORT } from './model/export.ts'
import { GRAPH } from './model/graph.ts'
import { APPLY, PLAN } from './model/plan.ts'
import { TEST } from './model/test.ts'
import { SERVE } from './serve/serve.ts'
import { MIGRATE, RESTORE, SNAPSHOT } from './storage/storage.ts'

/** Every command of the program. */
export const COMMANDS: readonly CommandGroup[] = [
  { title: 'Serve', commands: [INIT, SERVE] },
  { title: 'Look after a storage', commands: [DOCTOR, RESET_PASSWORD, SNAPSHOT, RESTORE, MIGRATE] },
  { title: 'Log in', commands: [LOGIN, LOGOUT, PROFILES] },
  { title: 'Ask', commands: [EXPLAIN] },
  { title: 'Entities', commands: ENTITY_COMMANDS, isNumerous: true },
  { title: 'Networks as files', commands: [TEST, PLAN, APPLY, EXPORT, GRAPH, IMPORT] },
  { title: 'For the shell', commands: [completionCommand(() => COMMANDS.flatMap(({ commands }) => commands))] },
]
