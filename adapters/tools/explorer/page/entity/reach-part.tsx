import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { EntityLink, Joined } from '../parts/entity-link.tsx'
import { useFound } from '../parts/found-list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { PlainTable } from '../parts/plain-table.tsx'
import { numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'

interface Props {
  /** Of an identity the services that it reaches are listed, of a service the identities that reach it. */
  readonly kind: 'identities' | 'services'
  readonly id: string
}

/** All services that an identity reaches, or all identities that reach a service: searched by name, page by page, with the policies. */
export function ReachPart({ kind, id }: Props) {
  const apis = useApis()
  const other = kind === 'identities' ? 'services' : 'identities'
  const { answer, field, pager } = useFound(
    `Find among the ${other}`,
    (wanted, signal) => {
      const of = kind === 'identities' ? { identity: id } : { service: id }
      return apis.portcullis.call('GET /reach', { query: { ...of, ...wanted }, signal })
    },
    [apis, kind, id],
  )
  const counts = (answer.data ?? answer.earlier)?.counts
  const title = kind === 'identities' ? 'Reaches' : 'Reached by'
  return (
    <Card title={counts ? `${title}: ${numberText(counts.dial)} dial, ${numberText(counts.bind)} bind` : title}>
      {field}
      <Loaded answer={answer} isEmpty={({ reached }) => reached.length === 0} empty="None.">
        {({ reached }) => (
          <>
            <PlainTable
              class="stacks"
              rows={reached}
              keyOf={(one) => one.id}
              columns={[
                {
                  title: other === 'services' ? 'Service' : 'Identity',
                  cell: (one) => (
                    <span class="named">
                      {one.status && <span class={`dot dot-${one.status}`} title={one.status} />}
                      <EntityLink kind={other} id={one.id} name={one.name} />
                    </span>
                  ),
                },
                { title: 'May', as: 'narrow', cell: ({ types }) => types.join(', ') },
                {
                  title: 'By',
                  as: 'by',
                  cell: ({ policies }) => (
                    <Joined of={policies}>
                      {(policy) => (
                        <>
                          <EntityLink kind="service-policies" {...policy} />
                          {policy.isGuarded && <span class="muted"> if posture passes</span>}
                        </>
                      )}
                    </Joined>
                  ),
                },
                {
                  title: 'Why',
                  as: 'narrow',
                  isUnseen: true,
                  cell: (one) => {
                    const pair =
                      kind === 'identities' ? { identity: id, service: one.id } : { identity: one.id, service: id }
                    return (
                      <a href={hrefOf('why', { ...pair, type: one.types.includes('Dial') ? undefined : 'Bind' })}>
                        why
                      </a>
                    )
                  },
                },
              ]}
            />
            {pager}
          </>
        )}
      </Loaded>
    </Card>
  )
}
