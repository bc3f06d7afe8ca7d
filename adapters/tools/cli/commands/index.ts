import type { Command, CommandGroup, ListedCommand } from '../command-line/command.ts'
import { ENTITY_COMMANDS } from './entities/entities.ts'

/** Every command of the program, as help lists it. The file of a command is loaded when the command is asked for. */
export const COMMANDS: readonly CommandGroup[] = [
  {
    title: 'Begin',
    commands: [
      ...listed(() => import('./begin/up.ts'), {
        UP: ['up', 'bring services up for other machines: a network, a router, a host and invitations, in one command'],
      }),
      ...listed(() => import('./begin/new.ts'), {
        NEW: ['new', 'write a project: express, hono, fastify, a dark app, a server or a test'],
      }),
    ],
  },
  {
    title: 'Serve',
    commands: [
      ...listed(() => import('./begin/init.ts'), {
        INIT: ['init', 'make the folder of a new controller: certificates, keys, storage and its admin'],
      }),
      ...listed(() => import('./serve/serve.ts'), {
        SERVE: ['serve', 'serve a controller over HTTPS until SIGTERM or SIGINT'],
      }),
    ],
  },
  {
    title: 'Run a router',
    commands: [
      ...listed(() => import('./router/router.ts'), {
        ROUTER_ENROLL: ['router enroll', 'enroll a router of this machine by the token that its controller made'],
        ROUTER_RUN: ['router run', 'run an enrolled router until SIGTERM or SIGINT'],
      }),
      ...listed(() => import('./router/examine-router.ts'), {
        ROUTER_DOCTOR: [
          'router doctor',
          'look for what is wrong with an enrolled router: certificates, clock, controllers, addresses',
        ],
      }),
    ],
  },
  {
    title: 'Look after a storage',
    commands: [
      ...listed(() => import('./doctor.ts'), {
        DOCTOR: ['doctor', 'look for what is wrong, or soon will be, with certificates, storage and network'],
      }),
      ...listed(() => import('./reset-password.ts'), {
        RESET_PASSWORD: ['admin reset-password', 'let an administrator in again, on the storage itself, served or not'],
      }),
      ...listed(() => import('./storage.ts'), {
        SNAPSHOT: ['snapshot', 'copy a SQLite storage while it is served'],
        RESTORE: ['restore', 'put a copy in place of a SQLite storage that nobody serves'],
      }),
      ...listed(() => import('./backup/run-backups.ts'), {
        BACKUP_RUN: [
          'backup run',
          'copy a SQLite storage into a folder while it is served, open the copy, and remove old ones',
        ],
      }),
      ...listed(() => import('./backup/drill.ts'), {
        BACKUP_DRILL: [
          'backup drill',
          'restore a backup into a scratch controller, compare it with the storage, and report',
        ],
      }),
      ...listed(() => import('./backup/move-storage.ts'), {
        COPY: ['copy', 'copy a storage into an empty one of any kind, while it is served'],
      }),
      ...listed(() => import('./storage.ts'), {
        MIGRATE: ['migrate', 'bring the tables of a storage to this version'],
      }),
    ],
  },
  {
    title: 'Make and change keys',
    commands: [
      ...listed(() => import('./create-pki.ts'), {
        PKI_CREATE: ['pki create', 'make a folder of certificates and keys for controllers that share it'],
      }),
      ...listed(() => import('./pki.ts'), {
        PKI_STATUS: [
          'pki status',
          "show the network's authorities, who has certificates of the latest, and what depends on the server's key",
        ],
        PKI_ROTATE: ['pki rotate', 'make the next key of the server, of the signing authority, or of the root'],
        PKI_CHANGE: ['pki change', 'say how long an authority is good, or that an announced one begins to sign'],
        PKI_BUNDLE: ['pki bundle', 'print the trust bundle, PEM, for routers and devices that cannot fetch it'],
      }),
    ],
  },
  {
    title: 'Log in',
    commands: [
      ...listed(() => import('./login.ts'), {
        LOGIN: ['login', 'log in to a controller, for the commands that ask one'],
        LOGOUT: ['logout', 'end a login, and forget it'],
        PROFILES: ['profiles', 'list the logins that are kept'],
      }),
    ],
  },
  {
    title: 'Invite',
    commands: [
      ...listed(() => import('./invite.ts'), {
        INVITE: ['invite', 'make an identity or a router and its enrollment token, in one step'],
      }),
    ],
  },
  {
    title: 'Grant',
    commands: [
      ...listed(() => import('./access/grant.ts'), { GRANT: ['grant', 'give access that ends by itself'] }),
      ...listed(() => import('./access/request-access.ts'), {
        REQUEST: ['request', 'ask for access of oneself to a service, for some time'],
        REQUESTS: ['requests', 'list the requests for access that are open'],
        APPROVE: ['approve', 'approve a request for access, for as long as was asked for or shorter'],
        REFUSE: ['refuse', 'refuse a request for access'],
        WITHDRAW: ['withdraw', 'withdraw a request of oneself'],
      }),
    ],
  },
  {
    title: 'Ask',
    commands: [
      ...listed(() => import('./access/explain.ts'), {
        EXPLAIN: ['explain', 'tell whether an identity may dial or bind a service, and why'],
      }),
      ...listed(() => import('./trace-dial.ts'), {
        TRACE_DIAL: [
          'trace dial',
          'follow the next dial of an identity to a service, hop by hop, and tell where it stopped',
        ],
      }),
      ...listed(() => import('./questions.ts'), {
        WHO: ['who', 'tell who reaches a service, and by which policies'],
        REACH: ['reach', 'tell what an identity reaches, and by which policies'],
        WHAT_IF: ['what-if', 'tell what would come of giving a role attribute to everybody who has another one'],
        FINDINGS: ['findings', 'tell who reaches nothing, what nobody reaches, what is offline and what runs out'],
        CHANGES: ['changes', 'tell what was changed lately, from what to what, and by whom'],
      }),
      ...listed(() => import('./audit.ts'), {
        AUDIT: ['audit', 'tell who did what, from where, and what before and after'],
        AUDIT_VERIFY: [
          'audit verify',
          'verify the chain of the audit trail, and name the first record that was altered or removed',
        ],
        AUDIT_UNDO: ['audit undo', 'tell how a change would be taken back, and take it back with --apply'],
        AUDIT_HEAD: ['audit head', 'print how far the audit trail goes, signed, to be kept elsewhere'],
      }),
    ],
  },
  { title: 'Entities', commands: ENTITY_COMMANDS, isNumerous: true },
  {
    title: 'Webhooks',
    commands: [
      ...listed(() => import('./entities/webhooks.ts'), {
        WEBHOOK_SECRET: ['webhooks secret', 'make a new secret for a webhook and print it, this once'],
        WEBHOOK_DELIVERIES: [
          'webhooks deliveries',
          'tell how far a webhook was told, what waits for another attempt, and its dead letters',
        ],
        WEBHOOK_RESEND: [
          'webhooks resend',
          'send dead letters of a webhook again: those of some audit records, or all',
        ],
        WEBHOOK_DROP: ['webhooks drop', 'drop dead letters of a webhook: those of some audit records, or all'],
      }),
    ],
  },
  {
    title: 'Networks as files',
    commands: [
      ...listed(() => import('./model/test.ts'), { TEST: ['test', 'try the assertions of model files'] }),
      ...listed(() => import('./model/plan.ts'), {
        PLAN: ['plan', 'show what applying model files would change'],
        APPLY: ['apply', 'make a controller have what model files hold'],
      }),
      ...listed(() => import('./model/export.ts'), {
        EXPORT: ['export', 'write a model file from a running controller'],
      }),
      ...listed(() => import('./model/graph.ts'), {
        GRAPH: ['graph', 'draw who reaches what, grouped by role attributes'],
      }),
      ...listed(() => import('./model/schema.ts'), {
        SCHEMA: ['schema', 'write a JSON Schema of model files, which offers names and role attributes to editors'],
      }),
      ...listed(() => import('./import.ts'), {
        IMPORT: ['import', 'take over the network of an OpenZiti controller'],
      }),
    ],
  },
  {
    title: 'Test',
    commands: [
      ...listed(() => import('./test-server.ts'), {
        TEST_SERVER: ['test-server', 'serve a throwaway controller for tests in any language, until the parent ends'],
      }),
    ],
  },
  {
    title: 'Dial and host',
    commands: [
      ...listed(() => import('./tunnel.ts'), {
        TUNNEL_ENROLL: ['tunnel enroll', 'make an identity file of an enrollment token'],
        TUNNEL_PROXY: ['tunnel proxy', 'reach services through ports of this machine'],
        TUNNEL_HOST: ['tunnel host', 'host services that programs on this machine or near it answer'],
      }),
    ],
  },
  {
    title: 'For the shell',
    commands: [
      {
        name: 'completion',
        summary: 'write what lets a shell complete commands and options',
        load: async () => (await import('./completion.ts')).completionCommand(COMMANDS),
      },
    ],
  },
]

/** Commands that a file declares: the name and the summary of each. */
type Listed = readonly [name: string, summary: string]

function listed<Name extends string>(
  load: () => Promise<Readonly<Record<NoInfer<Name>, Command>>>,
  commands: Readonly<Record<Name, Listed>>,
): readonly ListedCommand[] {
  const named = Object.entries(commands) as [Name, Listed][]
  return named.map(([key, [name, summary]]) => ({ name, summary, load: async () => (await load())[key] }))
}
