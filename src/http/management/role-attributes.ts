import { z } from 'zod'
import { pageOf } from '../../engine/page-of.ts'
import { type RoleAttributeUse, roleAttributesOf, roleAttributeUses } from '../../engine/role-attributes.ts'
import { resourceNamed } from '../../resources/index.ts'
import { defineOperation, type Operation } from '../operation.ts'

/** The attribute itself is the only thing that a filter can name. */
const SYMBOLS = { id: { field: 'id', kind: 'string' } } as const

const KINDS = [
  ['edge-router', 'edge-routers'],
  ['identity', 'identities'],
  ['posture-check', 'posture-checks'],
  ['service', 'services'],
] as const

const Use = z.object({
  roleAttribute: z.string(),
  usage: z.record(z.string(), z.object({ count: z.int(), ids: z.array(z.string()).nullable() })),
})

/** Role attributes that are in use. Skip and limit stand inside the filter; without a limit all are answered. */
export const roleAttributeOperations: readonly Operation[] = KINDS.flatMap(([word, kind]) => {
  const access = { entity: resourceNamed(kind).definition.permission, action: 'read' } as const
  const list = { access, symbols: SYMBOLS, pagedByFilter: true } as const
  return [
    defineOperation(
      {
        route: `GET /${word}-role-attributes`,
        summary: `Lists the role attributes that ${kind.replaceAll('-', ' ')} have`,
        data: z.string(),
        ...list,
      },
      async ({ engine, find }) => {
        const attributes = await engine.context.storage.read((tx) => roleAttributesOf(tx, kind))
        const page = pageOf(
          attributes.map((id) => ({ id })),
          find,
        )
        return { page: { items: page.items.map(({ id }) => id), totalCount: page.totalCount } }
      },
    ),
    defineOperation(
      {
        route: `GET /${word}-role-attribute-usage`,
        summary: `Lists the role attributes that ${kind.replaceAll('-', ' ')} have or policies select, with who does`,
        query: z.object({ withIds: z.string().optional() }),
        data: Use,
        ...list,
      },
      async ({ engine, find, query }) => {
        const uses = await engine.context.storage.read((tx) => roleAttributeUses(tx, kind))
        const page = pageOf(
          uses.map((use) => ({ ...use, id: use.roleAttribute })),
          find,
        )
        const withIds = query.withIds?.toLowerCase() === 'true'
        return { page: { items: page.items.map((use) => shown(use, withIds)), totalCount: page.totalCount } }
      },
    ),
  ]
})

function shown({ roleAttribute, usage }: RoleAttributeUse, withIds: boolean) {
  const sources = [...usage].map(([source, ids]) => [source, { count: ids.length, ids: withIds ? ids : null }])
  return { roleAttribute, usage: Object.fromEntries(sources) }
}
