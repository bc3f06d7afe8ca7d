import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Trail } from '../changes/trail.tsx'
import type { Concern } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { AttributeLink, Name } from '../parts/entity-link.tsx'
import { NameList } from '../parts/found-list.tsx'
import { Loaded, NotShown } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { kindName, numberText } from '../parts/words.ts'
import { lackedBy, useApis } from '../session/session.ts'

/** The head of a page: the name, and facts beside it. */
export interface Head {
  readonly name: string
  readonly state?: ComponentChildren
  readonly roleAttributes?: readonly string[] | null | undefined
  /** Ways that lead on from it. */
  readonly links?: readonly { readonly label: string; readonly href: string }[]
}

interface Props<T> {
  readonly kind: string
  readonly id: string
  readonly read: (request: { readonly params: { readonly id: string }; readonly signal: AbortSignal }) => Promise<{
    readonly data: T
  }>
  readonly head: (entity: T) => Head
  /** The events that may change the answer; changes of the network unless given. */
  readonly concerns?: Concern
  readonly children: (entity: T) => ComponentChildren
}

/** The page of one entity: its head, its facts, and its changes, the latest first. */
export function EntityPage<T>({ kind, id, read, head, concerns, children }: Props<T>) {
  const apis = useApis()
  const answer = useAnswer(async (signal) => (await read({ params: { id }, signal })).data, [apis, id], concerns)
  return (
    <Loaded answer={answer}>
      {(entity) => (
        <Frame one={kindName(kind)} kind={kind} json={hrefOf('json', { kind, id })} {...head(entity)}>
          {children(entity)}
          <ChangesPart id={id} />
        </Frame>
      )}
    </Loaded>
  )
}

interface FrameProps extends Head {
  /** The kind in words, as `service policy`. */
  readonly one: string
  readonly kind: string
  readonly json?: string
  readonly children: ComponentChildren
}

/** The head of a page shows as many role attributes until all are asked for. */
const MOST_CHIPS = 24

/** A page about one subject: the name, the state and the role attributes, then its facts. */
export function Frame({ one, kind, name, state, roleAttributes, links = [], json, children }: FrameProps) {
  const [isWhole, setWhole] = useState(false)
  return (
    <section class="entity-page">
      <header class={`card entity-head head-${kind}`}>
        <div>
          <p class={`kind kind-${kind}`}>{one}</p>
          <h1>
            <Name of={name} />
          </h1>
          {state && <p class="muted">{state}</p>}
          {roleAttributes && (
            <p class="chips">
              {roleAttributes.length === 0 && <span class="muted">no role attribute</span>}
              {roleAttributes.slice(0, isWhole ? undefined : MOST_CHIPS).map((attribute) => (
                <AttributeLink key={attribute} kind={kind} attribute={attribute} />
              ))}
              {!isWhole && roleAttributes.length > MOST_CHIPS && (
                <button type="button" class="link" onClick={() => setWhole(true)}>
                  and {numberText(roleAttributes.length - MOST_CHIPS)} more
                </button>
              )}
            </p>
          )}
        </div>
        <div class="actions">
          {links.filter(mayFollow).map(({ label, href }, place) => (
            <a key={label} class={place === 0 ? 'button primary' : 'button'} href={href}>
              {label}
            </a>
          ))}
          {json && (
            <a class="button" href={json}>
              All fields
            </a>
          )}
          <CopyButton text={location.href} label="Copy link" />
        </div>
      </header>
      {children}
      <NotShown />
    </section>
  )
}

/** Reports whether the view of a link shows anything to the logged in user. */
function mayFollow({ href }: { readonly href: string }): boolean {
  return lackedBy(/\w[\w-]*/.exec(href)?.[0] ?? '') === undefined
}

type NamesProps = Parameters<typeof NameList>[0] & { readonly title: string }

/** A part of a page with the entities of a list. */
export function NamesPart({ title, ...list }: NamesProps) {
  return (
    <Card title={title}>
      <NameList {...list} />
    </Card>
  )
}

interface ListProps<T> {
  readonly title: string
  readonly empty?: string
  readonly read: (signal: AbortSignal) => Promise<{ readonly data: readonly T[] }>
  readonly reasons: readonly unknown[]
  readonly concerns?: Concern
  readonly keyOf: (one: T) => string
  readonly children: (one: T) => ComponentChildren
}

/** A part of a page with a line for each entry of an answer. */
export function ListPart<T>({ title, empty, read, reasons, concerns, keyOf, children }: ListProps<T>) {
  const answer = useAnswer(async (signal) => (await read(signal)).data, reasons, concerns)
  return (
    <Card title={title}>
      <Loaded answer={answer} isEmpty={(list) => list.length === 0} {...(empty && { empty })}>
        {(list) => (
          <ul class="plain">
            {list.map((one) => (
              <li key={keyOf(one)}>{children(one)}</li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

const MOST_CHANGES = 20

function ChangesPart({ id }: { id: string }) {
  const apis = useApis()
  const answer = useAnswer(
    async (signal) =>
      (await apis.portcullis.call('GET /audit', { query: { entity: id, limit: MOST_CHANGES }, signal })).data,
    [apis, id],
  )
  return (
    <Card title="Changes">
      <Trail answer={answer} empty="None that are remembered." />
    </Card>
  )
}
