import { z } from 'zod'
import { ids } from '../../domain/filter/index.ts'
import type { Detail } from '../../engine/details/render.ts'
import { RELATIONS, type Relation } from '../../engine/related.ts'
import type { Page } from '../../ports/storage.ts'
import { NamedRole } from '../../resources/fields.ts'
import { resourceNamed } from '../../resources/index.ts'
import { defineOperation, type Operation } from '../operation.ts'

const PolicyType = z.object({ policyType: z.string().optional() })

/** The deployed documents describe one list of service edge router policies as if they were service policies. */
const SERVICE_POLICY_MEMBERS = {
  identityRoles: z.array(z.string()),
  identityRolesDisplay: z.array(NamedRole),
  postureCheckRoles: z.array(z.string()),
  postureCheckRolesDisplay: z.array(NamedRole),
  type: z.enum(['Dial', 'Bind', 'Invalid']),
}

/** Lists of entities that policies relate to an entity. Who may read the listed resource may read them. */
export const relatedOperations: readonly Operation[] = RELATIONS.map(relatedOperation)

function relatedOperation(relation: Relation): Operation {
  const above = resourceNamed(relation.of)
  const listed = resourceNamed(relation.to)
  return defineOperation(
    {
      route: `GET /${relation.of}/{id}/${relation.to}`,
      summary: `Lists the ${relation.to.replaceAll('-', ' ')} of one ${above.definition.singular}`,
      access: { entity: listed.definition.permission, action: 'read' },
      data: relation.besides === undefined ? listed.detail : listed.detail.extend(SERVICE_POLICY_MEMBERS),
      symbols: listed.symbols,
      ...(relation.byType && { query: PolicyType }),
    },
    async ({ engine, call, params, find, url }) => {
      const id = String(Reflect.get(params, 'id'))
      // Deployed clients see an empty list below an unknown entity, except below a service.
      if (relation.of === 'services') await engine.services.get(id)
      const type = accessType(relation.byType ? url.searchParams.get('policyType') : null)
      const page = await engine.reader.list(call, listed, find, async (tx) =>
        ids(relation.ids(await engine.context.access.at(tx), id, type)),
      )
      return { page: relation.besides === undefined ? page : withMembers(page, relation.besides) }
    },
  )
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
