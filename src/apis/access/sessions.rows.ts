import { z } from 'zod'
import { callerOf } from '../../context/call.ts'
import { SessionCreation, sessions } from '../../facts/access/session.resource.ts'
import { isAdministrator } from '../../facts/authority/authority.rules.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { described } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'

/** Sessions of the caller's identity. */
export const clientSessionOperations = [
  defineOperation(
    {
      route: 'POST /sessions',
      summary: 'Gives the caller a session to dial or bind a service, with the edge routers to reach it',
      description:
        'Granted while a service policy of the type grants the service and all its posture checks pass; ended as soon as none does. A refusal by posture (409) names the checks that fail, and admins read of it in the failed service requests.',
      access: 'authenticated',
      body: SessionCreation,
      data: wireSchema(sessions),
      status: 201,
      errors: ['INVALID_POSTURE', 'NO_EDGE_ROUTERS_AVAILABLE', 'NOT_FOUND'],
    },
    async ({ engine, call, request }) => {
      const { session, token } = await engine.sessions.create(call, request)
      return { data: { ...(await engine.reader.show(call, sessions, session)), token } }
    },
  ),
  defineOperation(
    {
      route: 'GET /sessions',
      summary: 'Lists the sessions of the caller; an admin sees all',
      description: 'They end with the API session, and as soon as no service policy grants them.',
      access: 'authenticated',
      data: wireSchema(sessions),
      symbols: sessions.symbols,
    },
    async ({ engine, call, find }) => {
      const caller = callerOf(call)
      const own = equals('identityId', caller.identity.id)
      return {
        page: await engine.reader.list(call, sessions, find, async () =>
          isAdministrator(caller.identity) ? undefined : own,
        ),
      }
    },
  ),
  defineOperation(
    {
      route: 'GET /sessions/{id}',
      summary: 'Shows a session of the caller',
      access: 'authenticated',
      data: wireSchema(sessions),
    },
    async ({ engine, call, params }) => {
      const { identity } = callerOf(call)
      const isOwn = async (_tx: unknown, session: { readonly identityId: string }) => session.identityId === identity.id
      return { data: await engine.reader.get(call, sessions, params.id, isOwn) }
    },
  ),
  defineOperation(
    {
      route: 'DELETE /sessions/{id}',
      summary: 'Ends a session of the caller',
      access: 'authenticated',
      errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    async ({ engine, call, params }) => done(engine.sessions.deleteOwn(call, params.id)),
  ),
] as const

/** The operation that clients poll to learn when to read their services again. */
export const serviceUpdates = defineOperation(
  {
    route: 'GET /current-api-session/service-updates',
    summary: 'Tells when something last changed that the caller sees of its services',
    description: 'Cheaper than the list itself: read that again when the instant is another one.',
    access: 'authenticated',
    data: described(z.object({ lastChangeAt: z.iso.datetime() }), { lastChangeAt: 'When it last changed, RFC 3339.' }),
  },
  async ({ engine, call }) => ({ data: { lastChangeAt: new Date(await engine.serviceUpdates.lastChangeAt(call)) } }),
)
