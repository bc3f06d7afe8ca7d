import type { CommandGroup } from '../command-line/help.ts'
import { AUDIT, AUDIT_HEAD, AUDIT_VERIFY } from './audit/audit.ts'
import { completionCommand } from './completion.ts'
import { DOCTOR } from './doctor/doctor.ts'
import { ENTITY_COMMANDS } from './entities/entities.ts'
import { EXPLAIN } from './explain.ts'
import { IMPORT } from './import.ts'
import { INIT } from './init.ts'
import { INVITE } from './invite.ts'
import { LOGIN, LOGOUT, PROFILES } from './login.ts'
import { EXPORT } from './model/export.ts'
import { GRAPH } from './model/graph.ts'
import { APPLY, PLAN } from './model/plan.ts'
import { TEST } from './model/test.ts'
import { CHANGES, FINDINGS, REACH, WHAT_IF, WHO } from './questions/questions.ts'
import { RESET_PASSWORD } from './reset-password.ts'
import { ROUTER_DOCTOR, ROUTER_ENROLL, ROUTER_RUN } from './router/router.ts'
import { SERVE } from './serve/serve.ts'
import { MIGRATE, RESTORE, SNAPSHOT } from './storage.ts'
import { TEST_SERVER } from './test-server.ts'
import { TUNNEL_ENROLL, TUNNEL_HOST, TUNNEL_PROXY } from './tunnel/tunnel.ts'

/** Every command of the program. */
export const COMMANDS: readonly CommandGroup[] = [
  { title: 'Serve', commands: [INIT, SERVE] },
  { title: 'Run a router', commands: [ROUTER_ENROLL, ROUTER_RUN, ROUTER_DOCTOR] },
  { title: 'Look after a storage', commands: [DOCTOR, RESET_PASSWORD, SNAPSHOT, RESTORE, MIGRATE] },
  { title: 'Log in', commands: [LOGIN, LOGOUT, PROFILES] },
  { title: 'Invite', commands: [INVITE] },
  { title: 'Ask', commands: [EXPLAIN, WHO, REACH, WHAT_IF, FINDINGS, CHANGES, AUDIT, AUDIT_VERIFY, AUDIT_HEAD] },
  { title: 'Entities', commands: ENTITY_COMMANDS, isNumerous: true },
  { title: 'Networks as files', commands: [TEST, PLAN, APPLY, EXPORT, GRAPH, IMPORT] },
  { title: 'Test', commands: [TEST_SERVER] },
  { title: 'Dial and host', commands: [TUNNEL_ENROLL, TUNNEL_PROXY, TUNNEL_HOST] },
  { title: 'For the shell', commands: [completionCommand(() => COMMANDS.flatMap(({ commands }) => commands))] },
]
