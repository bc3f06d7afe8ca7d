import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { resourceNamed } from '../../resources/index.ts'
import { defineOperation } from '../operations/define-operation.ts'
import type { Operation } from '../operations/operation.ts'

/** The attribute itself is the only thing that a filter can name. */
const SYMBOLS = { id: { field: 'id', kind: 'string' } } as const

const KINDS = [
  ['edge-router', 'edge-routers'],
  ['identity', 'identities'],
  ['posture-check', 'posture-checks'],
  ['service', 'services'],
] as const

const Use = described(
  z.object({
    roleAttribute: z.string(),
    usage: z.record(
      z.string(),
      described(z.object({ count: z.int(), ids: z.array(z.string()).nullable() }), {
        count: 'How many there are.',
        ids: 'Their ids; null unless `withIds` asks for them.',
      }),
    ),
  }),
  { roleAttribute: 'The role attribute.', usage: 'How many have or select it, by kind of entity.' },
)

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
        return { page: await engine.reader.roleAttributes(kind, find) }
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
        const withIds = query.withIds?.toLowerCase() === 'true'
        return { page: await engine.reader.roleAttributeUses(kind, find, withIds) }
      },
    ),
  ]
})
