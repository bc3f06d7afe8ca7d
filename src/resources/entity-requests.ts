import type { CreateOf, PatchOf, ReplaceOf, Resource } from '../declaration/resource.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf } from '../wire/wire-forms.ts'
import { patchSpellings } from './empty-choices.ts'
import { isSent, readInput } from './read-body.ts'

// Each function reads a request by the resource's own schema, which is what the type of its answer says.

/** What a create request says, in the names of the record and with every default. Error: `COULD_NOT_VALIDATE`. */
export function readCreate<R extends Resource>(resource: R, body: CreateBodyOf<R>): CreateOf<R> {
  return asCreate(resource, read(resource, 'create', body))
}

/** A member that deployed controllers require of a create request, and that this one leaves to its default. */
export function missingAsDeployed<R extends Resource>(resource: R, body: CreateBodyOf<R>): string | undefined {
  const { requiredAsDeployed = [] } = resource.definition
  const request = requiredAsDeployed.length === 0 ? {} : read(resource, 'create', body)
  return requiredAsDeployed.find((member) => !isSent(request, member))
}

/** What a create request says that was read already, as a part of a larger one. */
export function asCreate<R extends Resource>(resource: R, body: object): CreateOf<R> {
  return inStoredNames(resource, body) as CreateOf<R>
}

/** What a replace request says; what is settled at creation may be sent again and changes nothing. */
export function readReplace<R extends Resource>(resource: R, body: ReplaceBodyOf<R>): ReplaceOf<R> {
  return withoutSettled(resource, inStoredNames(resource, read(resource, 'replace', body))) as ReplaceOf<R>
}

/** What a patch says: only what was sent, of it only what may change. */
export function readPatch<R extends Resource>(resource: R, body: PatchBodyOf<R>): PatchOf<R> {
  return asPatch(resource, read(resource, 'patch', body))
}

/** What a patch says that was read already, as a part of a larger request. */
export function asPatch<R extends Resource>(resource: R, body: object): PatchOf<R> {
  return withoutSettled(resource, inStoredNames(resource, body)) as PatchOf<R>
}

function read(resource: Resource, kind: 'create' | 'replace' | 'patch', body: unknown): object {
  const { definition } = resource
  const spellings = kind === 'patch' ? patchSpellings(definition) : definition.spellings
  return Object(readInput({ body: resource[kind], spellings }, body))
}

/** Some requests spell a field differently (`type` for `typeId`). */
function inStoredNames({ definition }: Resource, body: object): Record<string, unknown> {
  const spelled = new Map(Object.entries(definition.inputNames ?? {}).map(([field, name]) => [name, field]))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [spelled.get(name) ?? name, value]))
}

function withoutSettled({ definition }: Resource, fields: Record<string, unknown>): Record<string, unknown> {
  const settled = Object.keys(definition.createOnly ?? {})
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !settled.includes(field)))
}
