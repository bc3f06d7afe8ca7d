import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { Pager } from '../parts/pager.tsx'
import { PlainTable } from '../parts/plain-table.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useSettled } from '../parts/use-settled.ts'
import { Part } from './entity-page.tsx'

interface Props {
  readonly apis: Apis
  /** Of an identity the services that it reaches are listed, of a service the identities that reach it. */
  readonly kind: 'identities' | 'services'
  readonly id: string
}

/** All services that an identity reaches, or all identities that reach a service: searched by name, page by page, with the policies. */
export function ReachPart({ apis, kind, id }: Props) {
  const [text, setText] = useState('')
  const [cursors, setCursors] = useState<readonly string[]>([])
  const settled = useSettled(text)
  const cursor = cursors.at(-1)
  const answer = useAnswer(
    async (signal) => {
      const of = kind === 'identities' ? { identity: id } : { service: id }
      const query = { ...of, text: settled, ...(cursor !== undefined && { cursor }) }
      return (await apis.portcullis.call('GET /reach', { query, signal })).data
    },
    [apis, kind, id, settled, cursor],
  )
  const other = kind === 'identities' ? 'services' : 'identities'
  const counts = (answer.data ?? answer.earlier)?.counts
  const title = kind === 'identities' ? 'Reaches' : 'Reached by'
  return (
    <Part title={counts ? `${title}: ${numberText(counts.dial)} dial, ${numberText(counts.bind)} bind` : title}>
      <input
        type="search"
        aria-label={`Find among the ${other}`}
        placeholder={`Find among the ${other}`}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setCursors([])
        }}
      />
      <Loaded answer={answer} isEmpty={({ reached }) => reached.length === 0} empty="None.">
        {({ reached, nextCursor }) => (
          <>
            <PlainTable
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
                  cell: ({ policies }) =>
                    policies.map((policy, place) => (
                      <span key={policy.id}>
                        {place > 0 && ', '}
                        <EntityLink kind="service-policies" {...policy} />
                        {policy.isGuarded && <span class="muted"> if posture passes</span>}
                      </span>
                    )),
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
            <Pager cursors={cursors} nextCursor={nextCursor} onTurn={setCursors} />
          </>
        )}
      </Loaded>
    </Part>
  )
}
