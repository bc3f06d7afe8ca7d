import { visibleLine } from '../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { ChangesPart } from './changes-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'

/** Members that every entity has, beside which a check says what it asks for. */
const COMMON = new Set([
  '_links',
  'id',
  'name',
  'tags',
  'createdAt',
  'updatedAt',
  'roleAttributes',
  'version',
  'typeId',
])

/** One posture check: the conditions, the policies that ask for it, who changed it. */
export function CheckPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const answer = useAnswer(
    async (signal) => (await management.call('GET /posture-checks/{id}', { params: { id }, signal })).data,
    [apis, id],
  )
  const attributes = answer.data?.roleAttributes ?? []
  const policies = useAnswer(
    async (signal) => {
      if (answer.data === undefined) return []
      const roles = [`@${id}`, '#all', ...attributes.map((attribute) => `#${attribute}`)]
      const filter = `anyOf(postureCheckRoles) in [${roles.map((role) => JSON.stringify(role)).join(', ')}]`
      return (await management.call('GET /service-policies', { query: { filter, limit: 100, sort: 'name' }, signal }))
        .data
    },
    [apis, id, answer.data],
  )
  return (
    <Loaded answer={answer}>
      {(check) => (
        <EntityPage
          one="posture check"
          kind="posture-checks"
          id={id}
          name={check.name}
          state={check.typeId}
          roleAttributes={attributes}
        >
          <div class="columns">
            <Part title="Asks for">
              <dl class="facts">
                {Object.entries(check)
                  .filter(([name]) => !COMMON.has(name))
                  .map(([name, value]) => (
                    <>
                      <dt>{name}</dt>
                      <dd>{visibleLine(typeof value === 'string' ? value : JSON.stringify(value))}</dd>
                    </>
                  ))}
              </dl>
            </Part>
            <Part title="Service policies that ask for it">
              <Loaded answer={policies} isEmpty={(list) => list.length === 0}>
                {(list) => (
                  <ul class="plain">
                    {list.map((one) => (
                      <li key={one.id}>
                        <EntityLink kind="service-policies" id={one.id} name={one.name} />
                      </li>
                    ))}
                  </ul>
                )}
              </Loaded>
            </Part>
          </div>
          <ChangesPart apis={apis} id={id} />
        </EntityPage>
      )}
    </Loaded>
  )
}
