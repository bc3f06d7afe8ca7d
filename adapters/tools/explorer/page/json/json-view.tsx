import type { ComponentChildren } from 'preact'
import type { Apis } from '../api/apis.ts'
import { deleteOf, membersOf, readJson, readList, rowOf } from '../api/read-json.ts'
import { isOfAny, isOfKind, isOfLogins, isOfNothing, isOfTraffic } from '../events/network-event.ts'
import { EntityForm } from '../forms/entity-form.tsx'
import { type KindForm, readForms } from '../forms/form-schemas.ts'
import { parsedJson } from '../forms/text-fields.tsx'
import { go, hrefOf, place } from '../navigation/place.ts'
import { ActionButton } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { hrefOfEntity, Name } from '../parts/entity-link.tsx'
import { Problem } from '../parts/loaded.tsx'
import { type Answer, useAnswer } from '../parts/use-answer.ts'
import { COLLECTIONS, kindName, numberText, pluralName } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
import { EntityTable } from '../table/entity-table.tsx'
import { useTraffic } from '../traffic/use-traffic.ts'
import { EntityActs } from './entity-acts.tsx'

/** The steps by which a network is brought up, in order. */
const STEPS: readonly (readonly [kind: string, why: string, counted?: string])[] = [
  ['edge-routers', 'carry the traffic; each enrolls by its token, unless this process is one itself'],
  ['edge-router-policies', 'say which identities use which edge routers'],
  ['service-edge-router-policies', 'say which services use which edge routers'],
  ['configs', 'say where a service is intercepted (intercept.v1) and where its host finds it (host.v1)'],
  ['services', 'are what identities reach; they have configs'],
  ['identities', 'are persons, devices and hosts; the page of each invites it', 'isDefaultAdmin = false'],
  ['service-policies', 'say who dials and who hosts a service'],
]

/** The identities that are connected, counted as the last step. */
const ONLINE = ['identities', 'hasEdgeRouterConnection = true'] as const

/** Every kind of the management API: its entities, each by fields and as JSON, created, changed and deleted. */
export function View() {
  const apis = useApis()
  const { about } = place.value
  const kind = COLLECTIONS.find((name) => name === about.get('kind'))
  const id = about.get('id') ?? undefined
  const isNew = about.has('new')
  const forms = useAnswer(readForms, [], isOfNothing)
  const form = kind && forms.data?.[kind]
  const entity = useAnswer(
    (signal) => (kind && id ? readJson(apis, kind, id, signal) : undefined),
    [apis, kind, id],
    kind ? isOfKind(kind) : isOfNothing,
  )
  const isJson = about.get('as') === 'json'
  const page = hrefOfEntity(kind ?? '', id ?? '')
  const isCreatable = form?.create !== undefined && may(form.permission, 'create')
  return (
    <section class="json">
      <div class="bar">
        <h1 class={id ? undefined : 'of-kind'}>
          {kind === undefined && 'Set up'}
          {kind && !id && (isNew ? `New ${kindName(kind)}` : pluralName(kind, 2))}
          {kind && id && <Name of={entity.data ? rowOf(entity.data).name : kindName(kind)} />}
        </h1>
        <p class="crumbs">
          {kind && (
            <>
              <a href={hrefOf('json')}>All kinds</a> / <a href={hrefOf('json', { kind })}>{pluralName(kind, 2)}</a>
            </>
          )}
          {kind && id && (
            <>
              {' '}
              / <span class="muted">{id}</span>
            </>
          )}
        </p>
        {kind && !id && !isNew && isCreatable && (
          <a class="button primary" href={hrefOf('json', { kind, new: 'true' })}>
            New {kindName(kind)}
          </a>
        )}
        {kind && id && !page.startsWith('#/json') && (
          <a class="button" href={page}>
            Its page
          </a>
        )}
      </div>
      <div class="json-body">
        <Problem of={forms} />
        {kind && isNew && isCreatable && <Tabs isJson={isJson} />}
        {!kind && <Kinds forms={forms.data} />}
        {kind && isNew && form?.create && isCreatable && (
          <EntityForm
            key={kind}
            kind={kind}
            schema={form.create}
            given={membersOf(parsedJson(about.get('with') ?? '')?.value)}
            isJson={isJson}
            onDone={(made) => go('json', { kind, id: made })}
          />
        )}
        {kind && isNew && form && !isCreatable && <p class="empty">You may not create it.</p>}
        {kind && !id && !isNew && <EntityTable key={kind} kind={kind} view="json" />}
        {kind && id && forms.data && <Entity key={`${kind} ${id}`} kind={kind} id={id} form={form} answer={entity} />}
      </div>
    </section>
  )
}

/** The ways to write an entity. Input in one stands in the other. */
function Tabs({ isJson }: { isJson: boolean }) {
  const about = Object.fromEntries(place.value.about)
  return (
    <p class="tabs">
      <a href={hrefOf('json', { ...about, as: undefined })} aria-current={isJson ? undefined : 'true'}>
        Form
      </a>
      <a href={hrefOf('json', { ...about, as: 'json' })} aria-current={isJson ? 'true' : undefined}>
        JSON
      </a>
    </p>
  )
}

function Kinds({ forms }: { forms: Readonly<Record<string, KindForm>> | undefined }) {
  const apis = useApis()
  const counted = [...STEPS.map(([kind, , filter = '']) => [kind, filter] as const), ONLINE]
  const counts = useAnswer(
    (signal) => Promise.all(counted.map(([kind, filter]) => countOf(apis, kind, filter, signal))),
    [apis],
    isOfAny(isOfKind(...STEPS.map(([kind]) => kind)), isOfLogins, isOfTraffic),
  )
  const { counts: traffic } = useTraffic().data ?? {}
  const mayCreate = (kind: string) => forms?.[kind]?.create !== undefined && may(forms[kind].permission, 'create')
  return (
    <>
      <h2>A network, step by step</h2>
      <ol class="steps">
        {STEPS.map(([kind, why], at) => (
          <Step
            key={kind}
            name={pluralName(kind, 2)}
            href={hrefOf('json', { kind })}
            why={why}
            count={counts.data?.[at]}
          >
            {mayCreate(kind) && (
              <a class="button" aria-label={`New ${kindName(kind)}`} href={hrefOf('json', { kind, new: 'true' })}>
                New
              </a>
            )}
          </Step>
        ))}
        <Step
          name="connected identities"
          href={hrefOf('manage', { filter: 'online:yes' })}
          why="have enrolled by their tokens, and are online"
          count={counts.data?.[STEPS.length]}
        />
        <Step name="circuits" href={hrefOf('live')} why="show that a service was reached" count={traffic?.circuits} />
      </ol>
      <h2>All kinds</h2>
      <ul class="collections">
        {COLLECTIONS.map((name) => (
          <li key={name}>
            <a href={hrefOf('json', { kind: name })}>{pluralName(name, 2)}</a>
          </li>
        ))}
      </ul>
    </>
  )
}

interface StepProps {
  readonly name: string
  readonly href: string
  readonly why: string
  /** How far it is; undefined for a reader who may not know. */
  readonly count: number | undefined
  readonly children?: ComponentChildren
}

function Step({ name, href, why, count, children }: StepProps) {
  return (
    <li>
      <div>
        <span>
          <a href={href}>{name}</a> <span class="muted">{why}</span>
        </span>
        {count === 0 ? (
          <span class="muted">none yet</span>
        ) : (
          <span class="gain">{count && `✓ ${numberText(count)}`}</span>
        )}
        {children}
      </div>
    </li>
  )
}

/** How many entities of a kind fulfil a filter; undefined for a reader who may not know. */
function countOf(apis: Apis, kind: string, filter: string, signal: AbortSignal): Promise<number | undefined> {
  return readList(apis, kind, { filter, limit: 1 }, signal).then(
    ({ total }) => total,
    () => undefined,
  )
}

interface EntityProps {
  readonly kind: string
  readonly id: string
  readonly form: KindForm | undefined
  readonly answer: Answer<unknown>
}

/** One entity: its fields, its JSON, and what can be done with it. */
function Entity({ kind, id, form, answer }: EntityProps) {
  const apis = useApis()
  if (answer.problem) return <Problem of={answer} />
  if (answer.data === undefined) return <p class="empty">Reading…</p>
  const entity = membersOf(answer.data)
  const change = form?.change !== undefined && may(form.permission, 'update') ? form.change : undefined
  const isJson = change === undefined || place.value.about.get('as') === 'json'
  const text = JSON.stringify(answer.data, null, 2)
  return (
    <>
      {change && <Tabs isJson={isJson} />}
      <EntityActs kind={kind} id={id} entity={entity} onDone={answer.reload} />
      {change && <EntityForm kind={kind} schema={change} entity={entity} isJson={isJson} onDone={answer.reload} />}
      {isJson && (
        <>
          <h2>All of it, to read</h2>
          <textarea
            class="code json-text"
            aria-label={`${kind} ${id} as JSON`}
            readOnly
            spellcheck={false}
            value={text}
          />
          <CopyButton text={text} />
        </>
      )}
      {form?.isDeleted && may(form.permission, 'delete') && (
        <ActionButton
          label="Delete"
          question="Delete it for good?"
          done="Deleted."
          act={() => deleteOf(apis, kind, id)}
          onDone={() => go('json', { kind })}
        />
      )}
    </>
  )
}
