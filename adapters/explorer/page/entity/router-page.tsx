import type { Apis } from '../api/apis.ts'
import { readList } from '../json/read-json.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { ChangesPart } from './changes-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'

/** One edge router: whether it is connected, whom and what it serves, who changed it. */
export function RouterPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  const answer = useAnswer(
    async (signal) => (await management.call('GET /edge-routers/{id}', { params, signal })).data,
    [apis, id],
  )
  const users = useAnswer(
    (signal) => readList(apis, `edge-routers/${encodeURIComponent(id)}/identities`, 0, signal),
    [apis, id],
  )
  const services = useAnswer(
    (signal) => readList(apis, `edge-routers/${encodeURIComponent(id)}/services`, 0, signal),
    [apis, id],
  )
  const lists = [
    { title: 'Identities that may connect', kind: 'identities', answer: users },
    { title: 'Services that it serves', kind: 'services', answer: services },
  ]
  return (
    <Loaded answer={answer}>
      {(router) => (
        <EntityPage
          one="edge router"
          kind="edge-routers"
          id={id}
          name={router.name}
          state={
            <>
              <span class={`dot ${router.isOnline ? 'dot-online' : ''}`} /> {router.isOnline ? 'online' : 'offline'}
              {router.hostname && ` as ${router.hostname}`}
              {router.isVerified ? '' : ', not enrolled'}
            </>
          }
          roleAttributes={router.roleAttributes ?? []}
        >
          <div class="columns">
            {lists.map((list) => (
              <Part key={list.kind} title={list.title}>
                <Loaded answer={list.answer} isEmpty={({ items }) => items.length === 0}>
                  {({ items, total }) => (
                    <>
                      <ul class="plain">
                        {items.map((one) => (
                          <li key={one.id}>
                            <EntityLink kind={list.kind} id={one.id} name={one.name} />
                          </li>
                        ))}
                      </ul>
                      {total > items.length && <p class="muted">and {numberText(total - items.length)} more</p>}
                    </>
                  )}
                </Loaded>
              </Part>
            ))}
          </div>
          <ChangesPart apis={apis} id={id} />
        </EntityPage>
      )}
    </Loaded>
  )
}
