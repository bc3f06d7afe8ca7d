import { z } from 'zod'
import { MISSING_KINDS, REASONS, SUGGESTION_KINDS } from '../../domain/explain/index.ts'

const Named = z.object({ id: z.string(), name: z.string() })
const Router = Named.extend({ isOnline: z.boolean() })
const Side = z.object({
  selects: z.boolean(),
  matched: z.array(z.object({ role: z.string(), name: z.string() })),
  lacking: z.array(z.string()),
})
const AccessType = z.enum(['Dial', 'Bind'])
const Check = Named.extend({
  typeId: z.enum(['OS', 'DOMAIN', 'MAC', 'PROCESS', 'PROCESS_MULTI', 'MFA']),
  isPassing: z.boolean(),
  expected: z.unknown(),
  known: z.unknown(),
  missing: z.array(z.object({ kind: z.enum(MISSING_KINDS), path: z.string().optional() })),
  holdsUntil: z.iso.datetime().nullable(),
})
const Policy = Named.extend({
  type: AccessType,
  semantic: z.enum(['AllOf', 'AnyOf']),
  identitySide: Side,
  serviceSide: Side,
  applies: z.boolean(),
  grants: z.boolean(),
  checks: z.array(Check),
})
const Suggestion = z.object({
  kind: z.enum(SUGGESTION_KINDS),
  entities: z.array(Named.extend({ kind: z.string() })),
  roleAttributes: z.array(z.string()).optional(),
  text: z.string(),
})

/** The wire form of an explanation: as the engine gives it, with instants as RFC 3339 and the rendering beside it. */
export const ExplanationData = z.object({
  allowed: z.boolean(),
  reason: z.enum(REASONS),
  asked: z.object({ identity: z.string(), service: z.string() }),
  type: AccessType,
  at: z.iso.datetime(),
  identity: Named.nullable(),
  service: Named.nullable(),
  apiSessionId: z.string().nullable(),
  policies: z.array(Policy),
  edgeRouters: z.object({
    ofIdentity: z.array(Router),
    ofService: z.array(Router),
    common: z.array(Router),
    online: z.array(Router),
  }),
  holdsUntil: z.iso.datetime().nullable(),
  suggestions: z.array(Suggestion),
  text: z.string(),
})
