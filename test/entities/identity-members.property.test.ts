import fc from 'fast-check'
import { type Call, type Caller, SYSTEM_CALL } from 'portcullis'
import { RECORD_KINDS } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
// Internals: the texts that are kept, which change nothing but time.
import { WireTexts } from '../../src/context/wire-texts.ts'
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { CredentialsFeed } from '../../src/credentials/identity-credentials.ts'
import { behaviourOf, contextOf } from '../../src/engine/entity-services.ts'
import { EntityReader } from '../../src/entities/entity-reader.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { runs } from '../support/property-runs.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { identities } from '../support/stored-records.ts'

const AUTHORITY = selfSigned(newKey(), '/CN=authority')
const NAMES = ['alice', 'bob', 'carol'] as const
const owner = fc.nat(NAMES.length - 1)
const command = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    kind: fc.constantFrom('authenticators', 'enrollments', 'mfas', 'api-sessions'),
    owner,
    variant: fc.nat(3),
  }),
  fc.record({
    do: fc.constant('delete' as const),
    kind: fc.constantFrom('authenticators', 'enrollments', 'mfas', 'api-sessions'),
    owner,
  }),
  fc.record({ do: fc.constantFrom('rename' as const, 'disable' as const, 'enable' as const), owner }),
  fc.record({ do: fc.constantFrom('renamePolicy' as const, 'renameAuthority' as const), owner }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1000, 40 * 60_000) }),
  fc.record({ do: fc.constant('look' as const), at: fc.array(owner, { minLength: 1, maxLength: 3 }) }),
)

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

/** Chance seldom brings these together. */
const RENAMED_AUTHORITY: Command[] = [
  { do: 'put', kind: 'enrollments', owner: 0, variant: 2 },
  { do: 'look', at: [0] },
  { do: 'renameAuthority', owner: 1 },
]

/** A record of a kind in one of its variants; the storage keeps any fields that it is given. */
function fieldsOf(kind: string, identityId: string, variant: number, now: number, caId: string): object {
  const base = { id: `${kind} of ${identityId}`, createdAt: 0, updatedAt: now, tags: {}, identityId }
  const [isFirst, isOdd] = [variant < 2, variant % 2 === 1]
  switch (kind) {
    case 'authenticators':
      return isFirst
        ? { ...base, method: 'updb', username: `${identityId} ${variant}`, fingerprint: null }
        : { ...base, method: 'cert', username: null, fingerprint: `${identityId} ${variant}` }
    case 'enrollments':
      return {
        ...base,
        method: isFirst ? 'ott' : 'ottca',
        token: `${identityId} ${variant}`,
        jwt: 'j',
        expiresAt: 5,
        caId,
      }
    case 'mfas':
      return { ...base, isVerified: isOdd }
    default:
      return { ...base, lastActivityAt: isOdd ? now : 0, tokensExpireAt: null, tokenDigest: `${identityId} digest` }
  }
}

it('an identity is shown as by a process that remembers nothing, whatever was written and asked before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40, size: 'max' }), async (commands) => {
      const { engine, storage, clock } = await createTestController(await withSharedPki())
      const context = contextOf(engineOf(engine))
      const ids: string[] = []
      for (const name of NAMES) {
        ids.push((await engine.identities.create(SYSTEM_CALL, { name, type: 'Device', isAdmin: false })).id)
      }
      const ca = {
        name: 'authority',
        certPem: AUTHORITY,
        isOttCaEnrollmentEnabled: true,
        isAutoCaEnrollmentEnabled: false,
      }
      const caId = (await engine.cas.create(SYSTEM_CALL, { ...ca, isAuthEnabled: true, identityRoles: [] })).id
      // They see different parts of an enrollment, one after the other.
      const callers: Call[] = [SYSTEM_CALL]
      for (const permissions of [['identity'], ['identity.read']]) {
        const own = { name: `caller ${callers.length}`, type: 'Device', isAdmin: false, permissions } as const
        const { id } = await engine.identities.create(SYSTEM_CALL, own)
        const identity = await storage.read((tx) => tx.collection(identities).get(id))
        callers.push({ by: 'caller', caller: { identity, isFullyAuthenticated: true } as Caller })
      }
      const idOf = (index: number) => ids[index] ?? ''
      const write = (kind: string, id: string, change: (before: object | undefined) => object | undefined) =>
        storage.write(async (tx) => {
          const collection = tx.collection(kindNamed(kind))
          const before = await collection.get(id)
          const after = change(before)
          if (after === undefined) await collection.delete(id)
          else await collection[before === undefined ? 'insert' : 'update'](after as never)
        })
      const look = async (id: string) => {
        const forgetful = new CredentialsFeed(() => storage.read(async ({ revision, line }) => ({ revision, line })))
        const stranger = new EntityReader({ ...context, texts: new WireTexts(), credentials: forgetful }, behaviourOf)
        const { reader } = engineOf(engine)
        for (const call of [...callers, SYSTEM_CALL]) {
          const expected = stranger.texts.jsonText(await stranger.get(call, identities, id))
          expect(reader.texts.jsonText(await reader.get(call, identities, id))).toBe(expected)
        }
      }
      for (const step of commands) {
        const now = clock.now()
        if (step.do === 'put') {
          const { id = '' } = fieldsOf(step.kind, idOf(step.owner), step.variant, now, caId) as { id?: string }
          await write(step.kind, id, () => fieldsOf(step.kind, idOf(step.owner), step.variant, now, caId))
        } else if (step.do === 'delete') {
          const id = `${step.kind} of ${idOf(step.owner)}`
          const isThere = (await storage.read((tx) => tx.collection(kindNamed(step.kind)).get(id))) !== undefined
          if (isThere) await write(step.kind, id, () => undefined)
        } else if (step.do === 'rename') {
          await write('identities', idOf(step.owner), (before) => ({
            ...before,
            name: `${idOf(step.owner)} at ${now}`,
          }))
        } else if (step.do === 'renamePolicy') {
          await write('auth-policies', 'default', (before) => ({ ...before, name: `policy ${step.owner}` }))
        } else if (step.do === 'renameAuthority') {
          await write('cas', caId, (before) => ({ ...before, name: `authority ${step.owner}` }))
        } else if (step.do === 'wait') clock.advance(step.ms)
        else if (step.do === 'look') for (const index of step.at) await look(idOf(index))
        else {
          const disabledAt = step.do === 'disable' ? now : null
          await write('identities', idOf(step.owner), (before) => ({ ...before, disabledAt, disabledUntil: null }))
        }
      }
      for (const id of ids) await look(id)
    }),
    { ...runs(60, 20), examples: [[RENAMED_AUTHORITY]] },
  )
})

function kindNamed(kind: string) {
  const found = RECORD_KINDS.find(({ name }) => name === kind)
  if (found === undefined) throw new Error(`no kind ${kind}`)
  return found
}
