import { z } from 'zod'
import { RELATIONS, type Relation } from '../../entities/related.ts'
import { AttributeGrantRequest, AttributeGrantSchema } from '../../facts/identities/attribute-grant.resource.ts'
import { DisableRequest } from '../../facts/identities/identity.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { done, type Operation } from '../../http/operations/operation.ts'
import { NamedRole } from '../../kernel/declaration/fields.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import { describedLater, meaningOf } from '../../kernel/declaration/words.ts'
import type { Page } from '../../ports/record-storage.ts'
import type { Detail } from '../../records/render.ts'

const ACCESS = { entity: 'identity', action: 'update' } as const

/** Disables identities, enables them again, and removes a lost second factor. */
export const identityStateOperations = [
  defineOperation(
    {
      route: 'POST /identities/{id}/disable',
      summary: 'Disables an identity for a number of minutes, with 0 until it is enabled, and ends its API sessions',
      description: 'It may neither authenticate nor go on with an API session until then.',
      access: ACCESS,
      body: DisableRequest,
    },
    async ({ engine, call, params, request }) => done(engine.identityState.disable(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'POST /identities/{id}/enable',
      summary: 'Enables an identity and unlocks its password',
      description: 'Clears what disabled it, by an admin or by too many wrong passwords.',
      access: ACCESS,
    },
    async ({ engine, call, params }) => done(engine.identityState.enable(call, params.id)),
  ),
  defineOperation(
    {
      route: 'DELETE /identities/{id}/mfa',
      summary: 'Ends the MFA enrollment of an identity',
      description:
        'For a person who lost the second factor and the recovery codes. Succeeds without a second factor, too.',
      access: ACCESS,
    },
    async ({ engine, call, params }) => done(engine.mfa.removeFrom(call, params.id)),
  ),
] as const

/** Gives identities role attributes for some time, and ends them before. Our own API has them. */
export const attributeGrantOperations = [
  defineOperation(
    {
      route: 'POST /identities/{id}/attribute-grants',
      summary: 'Gives an identity a role attribute until an instant',
      description:
        'At its ends all follows that follows from a change of `roleAttributes`, in whichever process is there. Grants add up; an identity has at most 50. No caller gives one to itself but an administrator.',
      access: ACCESS,
      body: AttributeGrantRequest,
      data: AttributeGrantSchema,
      status: 201,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, params, request }) => ({
      data: await engine.attributeGrants.give(call, params.id, request),
    }),
  ),
  defineOperation(
    {
      route: 'DELETE /identities/{id}/attribute-grants/{grantId}',
      summary: 'Ends a grant of a role attribute before its time',
      access: ACCESS,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, params }) => done(engine.attributeGrants.end(call, params.id, params.grantId)),
  ),
] as const

/** In upper or lower case, as deployed controllers compare it; an empty type counts as absent. */
const PolicyType = z.object({
  policyType: z
    .string()
    .meta({ enum: ['dial', 'bind'] })
    .toLowerCase()
    .pipe(z.enum(['dial', 'bind', '']))
    .optional(),
})

/** The deployed documents describe one list of service edge router policies as if they were service policies. */
const SERVICE_POLICY_MEMBERS = {
  identityRoles: z.array(z.string()),
  identityRolesDisplay: z.array(NamedRole),
  postureCheckRoles: z.array(z.string()),
  postureCheckRolesDisplay: z.array(NamedRole),
  type: z.enum(['Dial', 'Bind', 'Invalid']),
}
const NOT_HERE = 'Without meaning for these policies; always the same.'
const SERVICE_POLICY_WORDS = {
  identityRoles: NOT_HERE,
  identityRolesDisplay: NOT_HERE,
  postureCheckRoles: NOT_HERE,
  postureCheckRolesDisplay: NOT_HERE,
  type: NOT_HERE,
}

/** Lists of entities that policies relate to an entity. The right to read the listed resource opens them. */
export const relatedOperations: readonly Operation[] = RELATIONS.map(relatedOperation)

function relatedOperation(relation: Relation): Operation {
  const above = resourceNamed(relation.of)
  const listed = resourceNamed(relation.to)
  return defineOperation(
    {
      route: `GET /${relation.of}/{id}/${relation.to}`,
      summary: `Lists the ${relation.to.replaceAll('-', ' ')} of one ${above.definition.singular}`,
      access: { entity: listed.definition.permission, action: 'read' },
      data: relation.besides === undefined ? listed.detail : withServicePolicyMembers(listed),
      symbols: listed.symbols,
      ...(relation.byType && { query: PolicyType }),
    },
    async ({ engine, call, params, find, url }) => {
      const id = String(Reflect.get(params, 'id'))
      // Below any other unknown entity the list is empty.
      if (relation.of === 'services') await engine.reader.serviceAbove(id)
      const type = accessType(relation.byType ? url.searchParams.get('policyType') : null)
      const related = engine.access.related((index) => relation.ids(index, id, type))
      const page = await engine.reader.list(call, listed, find, related)
      return { page: relation.besides === undefined ? page : withMembers(page, relation.besides) }
    },
  )
}

function withServicePolicyMembers({ detail }: Resource): z.ZodObject {
  const words = () => ({ ...meaningOf(detail)?.members, ...SERVICE_POLICY_WORDS })
  return describedLater(detail.extend(SERVICE_POLICY_MEMBERS), words)
}

function withMembers(page: Page<Detail>, besides: Readonly<Record<string, unknown>>): Page<Detail> {
  return { ...page, items: page.items.map((item) => ({ ...item, ...besides })) }
}

function accessType(policyType: string | null): 'Dial' | 'Bind' | undefined {
  switch (policyType?.toLowerCase()) {
    case 'dial':
      return 'Dial'
    case 'bind':
      return 'Bind'
    default:
      return undefined
  }
}
