import type { Apis } from '../api/apis.ts'
import { type List, readList } from '../json/read-json.ts'
import { hrefOf } from '../navigation/place.ts'
import { RoleLinks } from '../parts/attribute-link.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { type Answer, useAnswer } from '../parts/use-answer.ts'
import { ChangesPart } from './changes-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'

/** One service policy: whom and what it selects by which entries, the checks that it asks for, who changed it. */
export function PolicyPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  const answer = useAnswer(
    async (signal) => (await management.call('GET /service-policies/{id}', { params, signal })).data,
    [apis, id],
  )
  const identities = useAnswer(
    (signal) => readList(apis, `service-policies/${encodeURIComponent(id)}/identities`, 0, signal),
    [apis, id],
  )
  const services = useAnswer(
    (signal) => readList(apis, `service-policies/${encodeURIComponent(id)}/services`, 0, signal),
    [apis, id],
  )
  return (
    <Loaded answer={answer}>
      {(policy) => (
        <EntityPage
          one="service policy"
          kind="service-policies"
          id={id}
          name={policy.name}
          state={`${policy.type}, selects who has ${policy.semantic === 'AllOf' ? 'all of the attributes' : 'any of the attributes'}`}
          links={[{ label: 'What if…?', href: hrefOf('what-if', { change: 'edit', of: 'service-policies', id }) }]}
        >
          <div class="columns">
            <Part title="Identities">
              <p class="chips">
                <RoleLinks kind="identities" roles={policy.identityRolesDisplay ?? []} />
              </p>
              <Selected kind="identities" answer={identities} />
            </Part>
            <Part title="Services">
              <p class="chips">
                <RoleLinks kind="services" roles={policy.serviceRolesDisplay ?? []} />
              </p>
              <Selected kind="services" answer={services} />
            </Part>
            <Part title="Posture checks">
              <p class="chips">
                <RoleLinks kind="posture-checks" roles={policy.postureCheckRolesDisplay ?? []} />
              </p>
            </Part>
          </div>
          <ChangesPart apis={apis} id={id} />
        </EntityPage>
      )}
    </Loaded>
  )
}

function Selected({ kind, answer }: { kind: string; answer: Answer<List> }) {
  return (
    <Loaded
      answer={answer}
      isEmpty={({ items }) => items.length === 0}
      empty="It selects nothing: the policy has no effect."
    >
      {({ items, total }) => (
        <>
          <ul class="plain">
            {items.map((one) => (
              <li key={one.id}>
                <EntityLink kind={kind} {...one} />
              </li>
            ))}
          </ul>
          {total > items.length && <p class="muted">and {numberText(total - items.length)} more</p>}
        </>
      )}
    </Loaded>
  )
}
