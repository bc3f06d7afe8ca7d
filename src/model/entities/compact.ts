import { inputName } from '../../resources/declaration/derive.ts'
import type { ModelKind } from './kinds.ts'
import type { Body } from './links.ts'
import { sameValue } from './same-value.ts'

/**
 * An entity as the API shows it, in the form of a request to create it: what cannot be written is left out, and what is as
 * it would be by default. Two entities that are alike have the same form.
 */
export function compact({ resource }: ModelKind, shown: Body): Body {
  const { writable, createOnly = {}, required } = resource.definition
  const fields = Object.keys({ ...createOnly, ...writable })
  // The type of a posture check is read first, as its name is.
  const ordered = ['name', ...Object.keys(createOnly), ...fields.filter((field) => field !== 'name')]
  const members = new Map<string, unknown>()
  for (const field of ordered) {
    const value = shown[field]
    if (value === undefined || value === null) continue
    if (!required.includes(field) && sameValue(value, resource.defaults[field])) continue
    members.set(inputName(resource.definition, field), value)
  }
  const tags = shown.tags ?? {}
  if (!sameValue(tags, {})) members.set('tags', tags)
  return Object.fromEntries(members)
}

/** The body of a request to replace the entity: what the compact form leaves out has its default. */
export function replacement({ resource }: ModelKind, body: Body): Body {
  const { createRequest = {}, requiredOnReplace = [] } = resource.definition
  const asked = Object.keys(createRequest)
  const kept = Object.entries(body).filter(([member]) => !asked.includes(member))
  const needed = requiredOnReplace.map((field) => [inputName(resource.definition, field), resource.defaults[field]])
  return { ...Object.fromEntries(needed), ...Object.fromEntries(kept) }
}
