import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { valueText, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { EntityPage, NamesPart } from './entity-page.tsx'

/** Members that every entity has; the other members of a check are its conditions. */
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

/** One posture check: its conditions, the policies that ask for it, and its changes. */
export function CheckPage({ id }: { id: string }) {
  const { management } = useApis()
  return (
    <EntityPage
      kind="posture-checks"
      id={id}
      read={(request) => management.call('GET /posture-checks/{id}', request)}
      head={({ name, typeId, roleAttributes }) => ({
        name,
        state: typeId,
        roleAttributes: roleAttributes ?? [],
        links: [{ label: 'Manage', href: hrefOf('manage', { kind: 'posture-checks', id }) }],
      })}
    >
      {(check) => (
        <div class="columns">
          <Card title="Asks for">
            <dl class="facts">
              {Object.entries(check)
                .filter(([name]) => !COMMON.has(name))
                .map(([name, value]) => (
                  <>
                    <dt>{wordsOf(name)}</dt>
                    <dd>{valueText(name, value)}</dd>
                  </>
                ))}
            </dl>
          </Card>
          <NamesPart
            title="Service policies that ask for it"
            kind="service-policies"
            filter={`anyOf(postureCheckRoles) in [${rolesThatSelect(id, check.roleAttributes ?? [])}]`}
            empty="None: nobody is asked for it."
          />
        </div>
      )}
    </EntityPage>
  )
}

/** The entries of role lists by which an entity is selected, in the words of filters. */
function rolesThatSelect(id: string, roleAttributes: readonly string[]): string {
  const roles = [`@${id}`, '#all', ...roleAttributes.map((attribute) => `#${attribute}`)]
  return roles.map((role) => JSON.stringify(role)).join(', ')
}
