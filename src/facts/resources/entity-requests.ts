import { inStoredNames } from '../../kernel/declaration/quirks.ts'
import { isSent, patchSpellings, readInput } from '../../kernel/declaration/read-body.ts'
import type { CreateOf, PatchOf, ReplaceOf, Resource } from '../../kernel/declaration/resource.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf } from './wire-forms.ts'

// Each function reads a request by the resource's own schema, which justifies the type of its answer.

/** Reads a create request, in the names of the record and with every default. Error: `COULD_NOT_VALIDATE`. */
export function readCreate<R extends Resource>(resource: R, body: CreateBodyOf<R>): CreateOf<R> {
  return asCreate(resource, read(resource, 'create', body))
}

/** A missing member of a create request that deployed controllers require, but that has a default here. */
export function missingAsDeployed<R extends Resource>(resource: R, body: CreateBodyOf<R>): string | undefined {
  const { requiredAsDeployed = [] } = resource.definition.quirks ?? {}
  const request = requiredAsDeployed.length === 0 ? {} : read(resource, 'create', body)
  return requiredAsDeployed.find((member) => !isSent(request, member))
}

/** Reads a create request whose body was already validated as a part of a larger request. */
export function asCreate<R extends Resource>(resource: R, body: object): CreateOf<R> {
  return inStoredNames(resource.definition, body) as CreateOf<R>
}

/** Reads a replace request; fields that are fixed at creation may be sent again, without effect. */
export function readReplace<R extends Resource>(resource: R, body: ReplaceBodyOf<R>): ReplaceOf<R> {
  return withoutSettled(resource, inStoredNames(resource.definition, read(resource, 'replace', body))) as ReplaceOf<R>
}

/** Reads a patch: only the sent members, without members that may not change. */
export function readPatch<R extends Resource>(resource: R, body: PatchBodyOf<R>): PatchOf<R> {
  return asPatch(resource, read(resource, 'patch', body))
}

/** Reads a patch whose body was already validated as a part of a larger request. */
export function asPatch<R extends Resource>(resource: R, body: object): PatchOf<R> {
  return withoutSettled(resource, inStoredNames(resource.definition, body)) as PatchOf<R>
}

function read(resource: Resource, kind: 'create' | 'replace' | 'patch', body: unknown): object {
  const { definition } = resource
  const spellings = kind === 'patch' ? patchSpellings(definition) : definition.quirks?.spellings
  return Object(readInput({ body: resource[kind], spellings }, body))
}

function withoutSettled({ definition }: Resource, fields: Record<string, unknown>): Record<string, unknown> {
  const settled = Object.keys(definition.createOnly ?? {})
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !settled.includes(field)))
}
