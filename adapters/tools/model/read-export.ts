import { readFile } from 'node:fs/promises'
import type { ImportedEntity } from '../../../src/index.ts'
import { isMap, type Model, ModelError, readSources } from '../../../src/model/index.ts'
import { yamlPackage } from '../../../src/planning/index.ts'

/** A model that was made of a file which `ziti ops export` wrote. */
export interface ExportedNetwork {
  readonly model: Model
  /** Facts that the file lacks, one line each. */
  readonly notes: readonly string[]
  /** The number of identities with a second factor; the file has no secrets of second factors. */
  readonly withSecondFactor: number
}

type Members = Readonly<Record<string, unknown>>

/** The names of kinds in the file, and of members that a model has under another name. */
const KINDS: Readonly<Record<string, { readonly key: string; readonly names?: Readonly<Record<string, string>> }>> = {
  externalJwtSigners: { key: 'externalJwtSigners', names: { enrollAuthPolicy: 'enrollAuthPolicyId' } },
  authPolicies: { key: 'authPolicies' },
  certificateAuthorities: { key: 'cas' },
  configTypes: { key: 'configTypes' },
  configs: { key: 'configs', names: { configType: 'configTypeId' } },
  postureChecks: { key: 'postureChecks' },
  services: { key: 'services' },
  edgeRouters: { key: 'edgeRouters' },
  identities: { key: 'identities', names: { authPolicy: 'authPolicyId', typeId: 'type' } },
  servicePolicies: { key: 'servicePolicies' },
  edgeRouterPolicies: { key: 'edgeRouterPolicies' },
  serviceEdgeRouterPolicies: { key: 'serviceEdgeRouterPolicies' },
}

/** Members of the file that no caller writes. */
const UNWRITTEN = [
  'disabled',
  'edgeRouterConnectionStatus',
  'enrollmentToken',
  'fingerprint',
  'hostname',
  'interfaces',
  'isDefaultAdmin',
  'isMfaEnabled',
  'isVerified',
  'unverifiedCertPem',
  'unverifiedFingerprint',
  'verificationToken',
]

const NOTES = [
  'the file has no ids, no certificates of identities and routers, no passwords and no enrollments: devices enroll again',
  'it leaves out which posture checks service policies ask for (postureCheckRoles), which identities are disabled, costs of hosting, idle times of services and configs that identities have of their own',
]

/**
 * Reads what `ziti ops export` writes, as JSON or YAML, as a model that can be planned and applied. References are names, as the file has
 * them. Rejects with {@link ModelError} for any other file.
 *
 * @example
 * const { model, notes } = await readExport('export.json')
 * console.log(planText(await planModel(admin, model)), notes.join('\n'))
 */
export async function readExport(file: string): Promise<ExportedNetwork> {
  const value = await valueIn(file)
  if (!isMap(value)) throw mistake(file, 'is no file that ziti ops export wrote: it is a map of lists')
  const unknown = Object.keys(value).filter((name) => KINDS[name] === undefined)
  if (unknown.length > 0) throw mistake(file, `is no file that ziti ops export wrote: it has ${unknown.join(', ')}`)
  const members = Object.entries(KINDS).map(([name, { key, names = {} }]) => {
    const list: unknown = value[name]
    const entities = Array.isArray(list) ? list.filter(isMap).filter((entity) => isMoved(name, entity)) : []
    return [key, entities.map((entity) => asModel(name, entity, names))]
  })
  const identities: readonly unknown[] = Array.isArray(value.identities) ? value.identities : []
  const withSecondFactor = identities.filter((one) => isMap(one) && isMoved('identities', one) && one.isMfaEnabled)
  const place = () => ({ file, line: undefined, column: undefined })
  return {
    model: readSources([{ name: file, value: Object.fromEntries(members), place }]),
    notes: NOTES,
    withSecondFactor: withSecondFactor.length,
  }
}

async function valueIn(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8')
  // Progress is written before the export where both go to standard output.
  const json = text.slice(Math.max(0, text.indexOf('{')))
  try {
    return JSON.parse(json)
  } catch (error) {
    const yaml = await yamlPackage()
    if (yaml === undefined) throw mistake(file, 'is no JSON; for YAML install the package yaml', error)
    return yaml.parse(text)
  }
}

/**
 * Leaves out entities that the controller makes itself: identities of routers, the default admin, system policies, the default auth policy.
 */
function isMoved(kind: string, entity: Members): boolean {
  if (kind === 'identities') return entity.isDefaultAdmin !== true && entity.typeId !== 'Router'
  if (kind === 'edgeRouterPolicies') return !/^edge-router-.+-system$/.test(String(entity.name))
  return kind !== 'authPolicies' || entity.name !== 'Default'
}

function asModel(kind: string, entity: Members, names: Readonly<Record<string, string>>): Members {
  const kept = Object.entries(entity).filter(([member, value]) => {
    const isState = UNWRITTEN.includes(member) && !(kind === 'edgeRouters' && member === 'disabled')
    return value !== null && !isState
  })
  return Object.fromEntries(
    kept.map(([member, value]) => {
      const name = names[member] ?? member
      const isReference = names[member] !== undefined || member === 'configs'
      return [name, isReference ? withoutMarks(value) : deeper(kind, value)]
    }),
  )
}

/** References are written as `@name`. */
function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^@/, '')
  return Array.isArray(value) ? value.map(withoutMarks) : value
}

/** Auth policies refer to signers deeper inside. */
function deeper(kind: string, value: unknown): unknown {
  if (kind !== 'authPolicies' || !isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      if (member === 'allowedSigners' || member === 'requireExtJwtSigner') return [member, withoutMarks(inner)]
      return [member, deeper(kind, inner)]
    }),
  )
}

function mistake(file: string, message: string, cause?: unknown): ModelError {
  const error = new ModelError([{ place: { file, line: undefined, column: undefined }, subject: '', message }])
  error.cause = cause
  return error
}

type Shown = ImportedEntity['entity']

/**
 * The identities that have a second factor at the source. Its secret cannot be taken over.
 *
 * @example
 * const { entities } = await readSource(admin)
 * identitiesWithSecondFactor(entities).length
 */
export function identitiesWithSecondFactor(entities: readonly ImportedEntity[]): readonly Shown[] {
  return entities
    .filter(({ resource, entity }) => resource === 'identities' && entity.isMfaEnabled === true)
    .map(({ entity }) => entity)
}

/**
 * The same entities, with every identity that had a second factor held until it enrolls one again: it gets the twin of its auth policy that
 * requires an authenticator app, so that a login without one may enroll it and nothing else. The rest of the policy stays.
 *
 * @example
 * const { entities } = await readSource(admin)
 * await operator.importEntities(holdSecondFactors(entities))
 */
export function holdSecondFactors(entities: readonly ImportedEntity[]): readonly ImportedEntity[] {
  const held = new Set(identitiesWithSecondFactor(entities))
  const policies = new Map(
    entities.filter(({ resource }) => resource === 'auth-policies').map(({ entity }) => [String(entity.id), entity]),
  )
  const twins = new Map<string, Shown>()
  const moved = entities.map((one) => {
    if (!held.has(one.entity)) return one
    const policy = policies.get(String(one.entity.authPolicyId ?? 'default'))
    if (policy === undefined || requiresTotp(policy)) return one
    const twin = twins.get(String(policy.id)) ?? twinOf(policy, policies)
    twins.set(String(policy.id), twin)
    return { ...one, entity: { ...one.entity, authPolicyId: twin.id } }
  })
  // A twin that exists already stays as it is.
  const added = [...twins.values()].filter(({ id }) => !policies.has(String(id)))
  return [...moved, ...added.map((entity) => ({ resource: 'auth-policies', entity }))]
}

function requiresTotp({ secondary }: Shown): boolean {
  return Reflect.get(Object(secondary), 'requireTotp') === true
}

/**
 * The twin of an auth policy: the twin of an earlier import, or a new policy with an unused id and name. It is the same at every import, so
 * that a repeated import makes no second twin.
 */
function twinOf(policy: Shown, policies: ReadonlyMap<string, Shown>): Shown {
  const secondary = { ...Object(policy.secondary), requireTotp: true }
  const names = new Set([...policies.values()].map(({ name }) => name))
  for (let number = 1; ; number += 1) {
    const id = `${policy.id}.totp${number === 1 ? '' : number}`
    const known = policies.get(id)
    if (known !== undefined && requiresTotp(known)) return known
    const name = `${policy.name} with second factor${number === 1 ? '' : ` ${number}`}`
    // Only entities that the controller made itself have this mark.
    if (known === undefined && !names.has(name)) return { ...policy, id, name, isSystem: undefined, secondary }
  }
}
