import type { DirectoryEntry } from 'portcullis'
import type { Ending, Stage } from '../ending.ts'
import { KEPT_MS } from '../played-directory.ts'
import type { Scene } from '../scene.ts'
import type { ProcessName } from '../two-processes.ts'
import { WAYS } from '../ways.ts'

/** Milliseconds from the login to the end of an entry: what the directory gives would last longer. */
const TERM_MS = 180_000
const DISABLED: DirectoryEntry = { roleAttributes: [], disabled: true }

/** The directory gives the subject its role attributes, which nobody stored, from the next login on. */
const given = (more: (scene: Scene) => Partial<DirectoryEntry> = () => ({})) => {
  return async (scene: Scene) => {
    const { directory, process, subject } = scene
    directory.entries.set(subject.id, { roleAttributes: [subject.way], ...more(scene) })
    await process('A').told('PATCH', `/identities/${subject.id}`, { roleAttributes: [] })
  }
}

/** The directory changes the entry of the subject, and reports that to a process. */
export async function say({ directory, subject, by }: Stage, entry: DirectoryEntry, to?: ProcessName): Promise<void> {
  directory.entries.set(subject.id, entry)
  await directory.report(to ?? by.name, subject.id)
}

/** The signer gives the subject its role attributes, which nobody stored, by claims of the tokens that let it in. */
const claimed = async ({ process, subject, network: { signer } }: Scene) => {
  const at = process('A')
  await at.told('PATCH', `/external-jwt-signers/${signer.id}`, { attributeClaimsSelector: '/groups' })
  await at.told('PATCH', `/identities/${subject.id}`, { roleAttributes: [] })
}

/** A login by a token of no group. */
async function logInWithoutGroups({ logins, process }: Stage, at: ProcessName): Promise<void> {
  logins.groups = []
  if ((await logins.session(process(at))) === undefined) throw new Error('the login is refused')
}

async function goAway({ directory, elapse }: Stage): Promise<void> {
  directory.isAway = true
  await elapse(KEPT_MS)
}

/** Role attributes that nobody stored, which the directory of the host or tokens give and take away, and identities that it disables. */
export const DIRECTORY_ENDINGS: readonly Ending[] = [
  {
    name: 'role attributes taken away by the directory',
    ways: WAYS,
    prepare: given(),
    end: (stage) => say(stage, { roleAttributes: [] }),
  },
  {
    name: 'role attributes taken away by the directory, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: given(),
    end: async (stage) => {
      await stage.two.A.close()
      await say(stage, { roleAttributes: [] }, 'B')
    },
  },
  {
    name: 'identity that the directory does not know any more',
    ways: ['password', 'cert'],
    prepare: given(),
    end: async ({ directory, subject, by }) => {
      directory.entries.delete(subject.id)
      await directory.report(by.name, subject.id)
    },
  },
  {
    name: 'role attributes of the directory over by their term',
    ways: ['password', 'jwt'],
    prepare: given(({ two }) => ({ until: two.now() + TERM_MS })),
    end: ({ elapse }) => elapse(TERM_MS),
  },
  {
    name: 'directory away until its role attributes ended',
    ways: WAYS,
    prepare: given(),
    end: goAway,
  },
  {
    name: 'directory away until its role attributes ended, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: given(),
    end: async (stage) => {
      await stage.two.A.close()
      await goAway(stage)
    },
  },
  {
    name: 'directory away, and back before its role attributes ended',
    ways: ['password'],
    prepare: given(),
    end: async ({ directory, elapse }) => {
      directory.isAway = true
      await elapse(KEPT_MS - 90_000)
      directory.isAway = false
      await elapse(150_000)
    },
  },
  {
    name: 'role attributes absent from the claims of the latest token',
    ways: ['jwt'],
    prepare: claimed,
    end: (stage) => logInWithoutGroups(stage, stage.by.name),
  },
  {
    name: 'role attributes absent from the claims of the latest token, without the process that made the session',
    ways: ['jwt'],
    ends: ['process-A'],
    prepare: claimed,
    end: async (stage) => {
      await stage.two.A.close()
      await logInWithoutGroups(stage, 'B')
    },
  },
  {
    name: 'claim of role attributes changed',
    ways: ['jwt'],
    prepare: claimed,
    end: ({ admin, network }) =>
      admin('PATCH', `/external-jwt-signers/${network.signer.id}`, { attributeClaimsSelector: '/roles' }),
  },
  { name: 'identity disabled by the directory', ways: WAYS, end: (stage) => say(stage, DISABLED) },
  {
    name: 'identity disabled by the directory, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    end: async (stage) => {
      await stage.two.A.close()
      await say(stage, DISABLED, 'B')
    },
  },
  {
    name: 'identity disabled by a directory that is away since',
    ways: ['password'],
    end: async (stage) => {
      await say(stage, DISABLED)
      await goAway(stage)
    },
  },
  {
    name: 'identity disabled by the directory, and enabled again by it',
    ways: ['password', 'cert', 'jwt'],
    end: async (stage) => {
      await say(stage, DISABLED)
      await stage.see()
      await say(stage, { roleAttributes: [] })
    },
  },
  {
    name: 'identity disabled by the directory, and enabled by an administrator',
    ways: ['password', 'cert', 'jwt'],
    end: async (stage) => {
      await say(stage, DISABLED)
      await stage.see()
      await stage.admin('POST', `/identities/${stage.subject.id}/enable`)
    },
  },
]
