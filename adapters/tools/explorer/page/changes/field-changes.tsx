import { isBookkeeping, isDigest } from '../../../../../src/base/members.ts'
import type { Apis } from '../api/apis.ts'
import { readJson, rowOf } from '../api/read-json.ts'
import { isOfNothing } from '../events/network-event.ts'
import { EntityLink, Name, RoleLinks } from '../parts/entity-link.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { SELECTED_BY, valueText, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import type { AuditEntry } from './consequences.tsx'

/** The greatest number of fields beside an event, and of their characters. */
const MOST_BRIEF = 4
const LONGEST_BRIEF = 100

/** The fields of a change with old and new values; short where the sentence before names the entity. */
export function FieldChanges({ entry, isBrief = false }: { entry: AuditEntry; isBrief?: boolean }) {
  const { changes, type, entity } = entry
  // A new or deleted entity has its name in the sentence before, and says nothing by the digests of its secrets.
  const isWhole = type !== 'entity.updated'
  const fields = Object.entries(changes).filter(
    ([field, { before, after }]) =>
      !isBookkeeping(field) &&
      !(isWhole && (isDigest(before ?? after) || (field === 'name' && (before ?? after) === entity?.name))),
  )
  const brief = fields.filter(
    ([field, change]) => field !== 'name' && JSON.stringify(change).length <= LONGEST_BRIEF && !isDigest(change.after),
  )
  return (
    <dl class="facts diff">
      {(isBrief ? brief.slice(0, MOST_BRIEF) : fields).map(([field, change]) => (
        <Field key={field} field={field} change={change} />
      ))}
    </dl>
  )
}

function Field({ field, change }: { field: string; change: { before?: unknown; after?: unknown } }) {
  const moved = movedOf(change)
  if (moved !== undefined) {
    const { gone, come } = moved
    return (
      <>
        <dt>{wordsOf(field)}</dt>
        <dd>
          {gone.map((one) => (
            <span key={`gone ${one}`} class="loss">
              − <Entry field={field} value={one} />{' '}
            </span>
          ))}
          {come.map((one) => (
            <span key={`come ${one}`} class="gain">
              + <Entry field={field} value={one} />{' '}
            </span>
          ))}
        </dd>
      </>
    )
  }
  return (
    <>
      <dt>{wordsOf(field)}</dt>
      <dd>
        {change.before !== undefined && (
          <span class="was">
            <Value field={field} value={change.before} />
          </span>
        )}{' '}
        {change.after !== undefined && (
          <>
            → <Value field={field} value={change.after} />
          </>
        )}
      </dd>
    </>
  )
}

/** The kinds that fields name by id, and that role lists select from. */
const KIND_OF: Readonly<Record<string, string>> = {
  identityId: 'identities',
  serviceId: 'services',
  edgeRouterId: 'edge-routers',
  routerId: 'edge-routers',
  authPolicyId: 'auth-policies',
  configTypeId: 'config-types',
  ...SELECTED_BY,
}

/** An entry of a list. An entry of a role list links to the page of its entity or role attribute. */
function Entry({ field, value }: { field: string; value: string }) {
  const kind = KIND_OF[field]
  if (kind === undefined || !/^[#@]/.test(value)) return <Name of={value} />
  if (value.startsWith('@')) return <Reference kind={kind} id={value.slice(1)} />
  return <RoleLinks kind={kind} roles={[{ role: value, name: value }]} />
}

function Value({ field, value }: { field: string; value: unknown }) {
  if (isDigest(value)) return <>not shown</>
  const kind = KIND_OF[field]
  if (kind !== undefined && typeof value === 'string' && value !== '') return <Reference kind={kind} id={value} />
  return <>{valueText(field, value)}</>
}

/** An entity that a record names by its id, with its present name. */
function Reference({ kind, id }: { kind: string; id: string }) {
  const apis = useApis()
  const answer = useAnswer(() => nameOf(apis, kind, id), [apis, kind, id], isOfNothing)
  return <EntityLink kind={kind} id={id} name={answer.data ?? id} />
}

let named: { readonly apis: Apis; readonly names: Map<string, Promise<string>> } | undefined

/** The name of an entity, asked for once; its id where it is gone. */
function nameOf(apis: Apis, kind: string, id: string): Promise<string> {
  if (named?.apis !== apis) named = { apis, names: new Map() }
  const key = `${kind} ${id}`
  const known = named.names.get(key) ?? readName(apis, kind, id)
  named.names.set(key, known)
  return known
}

async function readName(apis: Apis, kind: string, id: string): Promise<string> {
  try {
    return rowOf(await readJson(apis, kind, id)).name || id
  } catch {
    return id
  }
}

/** The entries that left a list and the entries that came into it; undefined where neither side is a list. */
export function movedOf({ before, after }: { before?: unknown; after?: unknown }) {
  const [earlier, later] = [listOf(before), listOf(after)]
  if (earlier === undefined && later === undefined) return undefined
  return {
    gone: (earlier ?? []).filter((one) => !(later ?? []).includes(one)),
    come: (later ?? []).filter((one) => !(earlier ?? []).includes(one)),
  }
}

function listOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
