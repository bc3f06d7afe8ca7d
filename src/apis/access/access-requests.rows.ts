import { seesEveryRequest, TO_DECIDE } from '../../access/access-requests.ts'
import { callerOf } from '../../context/call.ts'
import {
  AccessApprovalRequest,
  AccessRefusalRequest,
  AccessRequestCreation,
  accessRequests,
} from '../../facts/access/access-request.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { equals } from '../../kernel/filter/index.ts'

/** Requests of identities for access that ends by itself, and the decisions about them. */
export const accessRequestOperations = [
  defineOperation(
    {
      route: 'POST /access-requests',
      summary: 'Asks for access of the caller itself to a service, for some time',
      description:
        'A caller with the right to make service policies decides it, or a rule of the host at once. An open request ends by itself after a day. The answer is the same whether or not there is such a service.',
      access: 'authenticated',
      body: AccessRequestCreation,
      data: wireSchema(accessRequests),
      status: 201,
    },
    async ({ engine, call, request }) => {
      const made = await engine.accessRequests.create(call, request)
      return { data: await engine.reader.show(call, accessRequests, made) }
    },
  ),
  defineOperation(
    {
      route: 'GET /access-requests',
      summary: 'Lists the access requests of the caller; of every identity where it may decide them',
      description:
        'A caller that may make or read service policies gets the requests of every identity. The filter `state = "open"` selects the requests to decide.',
      access: 'authenticated',
      data: wireSchema(accessRequests),
      symbols: accessRequests.symbols,
    },
    async ({ engine, call, find }) => ({
      page: await engine.reader.list(call, accessRequests, find, async () =>
        seesEveryRequest(call) ? undefined : equals('identityId', callerOf(call).identity.id),
      ),
    }),
  ),
  defineOperation(
    {
      route: 'GET /access-requests/{id}',
      summary: 'Shows an access request, of the caller or to be decided by it',
      access: 'authenticated',
      data: wireSchema(accessRequests),
    },
    async ({ engine, call, params }) => {
      const isSeen = async (_tx: unknown, { identityId }: { readonly identityId: string }) =>
        seesEveryRequest(call) || callerOf(call).identity.id === identityId
      return { data: await engine.reader.get(call, accessRequests, params.id, isSeen) }
    },
  ),
  defineOperation(
    {
      route: 'POST /access-requests/{id}/approve',
      summary: 'Approves an access request: makes the service policy that grants it, until its end',
      description:
        'The access begins now. It takes the right to make service policies. No caller approves a request of its own but an administrator.',
      access: TO_DECIDE,
      body: AccessApprovalRequest,
      bodyOptional: true,
      data: wireSchema(accessRequests),
      errors: ['ENTITY_CAN_NOT_BE_UPDATED'],
    },
    async ({ engine, call, params, request }) => {
      const approved = await engine.accessRequests.approve(call, params.id, request)
      return { data: await engine.reader.show(call, accessRequests, approved) }
    },
  ),
  defineOperation(
    {
      route: 'POST /access-requests/{id}/refuse',
      summary: 'Refuses an access request',
      description: 'It takes the right to make service policies.',
      access: TO_DECIDE,
      body: AccessRefusalRequest,
      bodyOptional: true,
      data: wireSchema(accessRequests),
      errors: ['ENTITY_CAN_NOT_BE_UPDATED'],
    },
    async ({ engine, call, params, request }) => {
      const refused = await engine.accessRequests.refuse(call, params.id, request)
      return { data: await engine.reader.show(call, accessRequests, refused) }
    },
  ),
  defineOperation(
    {
      route: 'POST /access-requests/{id}/withdraw',
      summary: 'Withdraws an access request of the caller',
      access: 'authenticated',
      data: wireSchema(accessRequests),
      errors: ['ENTITY_CAN_NOT_BE_UPDATED'],
    },
    async ({ engine, call, params }) => {
      const withdrawn = await engine.accessRequests.withdraw(call, params.id)
      return { data: await engine.reader.show(call, accessRequests, withdrawn) }
    },
  ),
] as const
