import { describe, expect, it } from 'vitest'
import { expectDone, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { SUBJECTS, type Subject } from './law-subjects.ts'

type Wire = Readonly<Record<string, unknown>>

const TABLE = SUBJECTS.map((subject) => [subject.path, subject] as const)
const VERBS = ['put', 'patch'] as const

async function setUp({ path, create: bodyOf, replacement }: Subject) {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const id = await create(admin, path, await bodyOf(admin))
  const later = () => new Date(mounted.clock.advance(1000)).toISOString()
  return { admin, at: `${path}/${id}`, id, replacement: await replacement(admin), later }
}

/** How the written members of a body are shown; a reference is shown as the entity. */
function shownOf({ shown, follows, secret }: Subject, body: Wire): Wire {
  const member = ([name, value]: [string, unknown]) => {
    const target = follows?.[name]?.find((follower) => follower === `${name}Id`)
    return shown !== undefined && Object.hasOwn(shown, name) ? [name, shown[name]] : [target ?? name, value]
  }
  return Object.fromEntries(Object.entries(without(body, secret ?? [])).map(member))
}

/** Another value of the same type. */
function forged(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return ['forged']
  return typeof value === 'object' && value !== null ? { forged: true } : 'forged'
}

function without(wire: Wire, names: readonly string[]): Wire {
  return Object.fromEntries(Object.entries(wire).filter(([name]) => !names.includes(name)))
}

/** The members of a wire form that no body writes, each with another value. */
function forgery(subject: Subject, wire: Wire, replacement: Wire): Wire {
  const written = new Set(Object.keys({ ...replacement, ...subject.discriminator, permissions: [], configs: [] }))
  for (const name of written) for (const follower of subject.follows?.[name] ?? []) written.add(follower)
  const readOnly = Object.entries(wire).filter(([name]) => !written.has(name) && !WRITABLE.has(name))
  return { ...Object.fromEntries(readOnly.map(([name, value]) => [name, forged(value)])), ...subject.settled }
}

/** Members that may be written, though the replacements of the table do not. */
const WRITABLE = new Set([
  'authPolicyId',
  'certPem',
  'isTunnelerEnabled',
  'kid',
  'serviceHostingCosts',
  'serviceHostingPrecedences',
])

async function readAll(admin: ForeignClient, at: string): Promise<Wire> {
  return read(admin, at)
}

describe.each(TABLE)('%s', (_path, subject) => {
  it('shows the tags that came with its creation', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const tags = { team: 'network' }
    const created = await admin.post(subject.path, { ...(await subject.create(admin)), tags })
    expect(created.status, created.text).toBe(201)
    expect((await readAll(admin, `${subject.path}/${created.body.data.id}`)).tags).toEqual(tags)
  })

  it('shows after a replacement what it said', async () => {
    const { admin, at, replacement, later } = await setUp(subject)
    const updatedAt = later()
    expectDone(await admin.put(at, { ...subject.discriminator, ...replacement }))
    expect(await readAll(admin, at)).toMatchObject({ ...shownOf(subject, replacement), updatedAt })
  })

  it('is after a replacement by the same what it was, but for the time', async () => {
    const { admin, at, replacement, later } = await setUp(subject)
    expectDone(await admin.put(at, replacement))
    const before = await readAll(admin, at)
    const updatedAt = later()
    expectDone(await admin.put(at, replacement))
    expect(await readAll(admin, at)).toEqual({ ...before, updatedAt })
  })

  it('changes by a patch of one member in that member and in time only', async () => {
    const { admin, at, replacement, later } = await setUp(subject)
    for (const [name, value] of Object.entries(replacement)) {
      const before = await readAll(admin, at)
      const updatedAt = later()
      expectDone(await admin.patch(at, { ...subject.discriminator, [name]: value }))
      const after = await readAll(admin, at)
      const changed = [name, 'updatedAt', ...(subject.follows?.[name] ?? []), '_links']
      expect([name, without(after, changed)]).toEqual([name, without(before, changed)])
      expect(after).toMatchObject({ ...shownOf(subject, { [name]: value }), updatedAt })
    }
  })

  it('changes in no read-only member by any body', async () => {
    const { admin, at, replacement } = await setUp(subject)
    expectDone(await admin.put(at, replacement))
    const before = await readAll(admin, at)
    const others = forgery(subject, before, replacement)
    expect(Object.keys(others)).toEqual(expect.arrayContaining(['_links', 'createdAt', 'id', 'updatedAt']))
    for (const [name, value] of Object.entries(others)) {
      const answers = [
        await admin.put(at, { ...replacement, [name]: value }),
        await admin.patch(at, { ...subject.discriminator, [name]: value }),
      ]
      for (const answer of answers) expect([name, answer.status, answer.text]).toEqual([name, 200, answer.text])
      expect([name, await readAll(admin, at)]).toEqual([name, before])
    }
  })

  it('is gone once it is deleted', async () => {
    const { admin, at, id } = await setUp(subject)
    expectDone(await admin.delete(at))
    expectUnknown(await admin.get(at), subject.singular, id)
    expectUnknown(await admin.delete(at), subject.singular, id)
  })

  it('of an unknown id is not found by any verb', async () => {
    const { admin, replacement } = await setUp(subject)
    for (const id of ['unknown', '%F0%9F%92%A9']) {
      const at = `${subject.path}/${id}`
      const named = decodeURIComponent(id)
      expectUnknown(await admin.get(at), subject.singular, named)
      expectUnknown(await admin.delete(at), subject.singular, named)
      for (const verb of VERBS) {
        expectUnknown(await admin[verb](at, { ...subject.discriminator, ...replacement }), subject.singular, named)
      }
    }
  })
})
