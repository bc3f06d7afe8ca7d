import { z } from 'zod'
import type { SimulatedChange } from '../../access/simulation/resolve-changes.ts'
import { instant } from '../../base/time.ts'
import {
  AccessTypeName,
  AssumedPosture,
  IdOrName,
  SimulatedChanges,
} from '../../facts/access/access-questions.resource.ts'
import { type Explanation, explanationText } from '../../facts/access/explain/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { ExplanationData } from './explanation-schema.rows.ts'

/** Explains one decision about access. It is a POST because the assumed reports are a body; nothing is written. */
export const explainOperation = defineOperation(
  {
    route: 'POST /explain',
    summary: 'Explains whether an identity may dial or bind a service, each by id or name',
    description:
      'Tells policies, posture checks and edge routers, what is missing, and what would help. Writes nothing. Takes the right ' +
      'to read all of them: identities, services, service policies, posture checks and routers.',
    access: { entity: 'identity', action: 'read' },
    reads: ['identity', 'service', 'service-policy', 'posture-check', 'router'],
    isLong: true,
    body: described(
      z.object({
        identity: IdOrName,
        service: IdOrName,
        type: AccessTypeName.default('Dial'),
        posture: AssumedPosture.optional(),
        at: Instant.optional(),
        apiSessionId: Id.optional(),
        mfa: z.boolean().optional(),
        changes: SimulatedChanges.optional(),
      }),
      {
        identity: 'The identity, by id or name.',
        service: 'The service, by id or name.',
        type: 'Whether to dial (the default) or bind it.',
        posture: 'Posture responses that are taken as if the endpoint had reported them; nothing is kept.',
        at: 'The instant to judge at, RFC 3339; now by default.',
        apiSessionId: 'The id of the API session whose second factor counts; by default the newest of the identity.',
        mfa: 'True to judge as if its second factor was proved at that instant; nothing is kept.',
        changes: 'Changes as for POST /simulate that are taken to be made already; at most 500.',
      },
    ),
    data: ExplanationData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, body }) => {
    const { identity, service, type, changes = [], ...circumstances } = body
    // The schema takes the requests of the resources themselves, as their type says.
    const assumed = { ...circumstances, changes: changes as readonly object[] as readonly SimulatedChange[] }
    return { data: onTheWire(await engine.explain(identity, service, type, assumed)) }
  },
)

function onTheWire(explanation: Explanation) {
  const { at, holdsUntil, changesAt, since, policies, wire } = explanation
  return {
    ...explanation,
    at: instant(at),
    holdsUntil: instant(holdsUntil),
    changesAt: instant(changesAt),
    since: since && { ...since, at: instant(since.at) },
    policies: policies.map((policy) => ({
      ...policy,
      checks: policy.checks.map((check) => ({ ...check, holdsUntil: instant(check.holdsUntil) })),
      term: policy.term && {
        ...policy.term,
        startsAt: instant(policy.term.startsAt),
        until: instant(policy.term.until),
      },
    })),
    wire: wire && {
      ...wire,
      lastFailure: wire.lastFailure && { ...wire.lastFailure, at: instant(wire.lastFailure.at) },
    },
    text: explanationText(explanation),
  }
}
