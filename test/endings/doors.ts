import { askedAt, COLUMNS, type Column } from './columns.ts'
import { type Held, holdAt, holdLittleAt } from './holdings.ts'
import { Logins } from './logins.ts'
import type { Judge } from './oracle.ts'
import { type Scene, settle } from './scene.ts'
import { PROCESSES, type ProcessName } from './two-processes.ts'
import type { Subject, Way } from './ways.ts'

/** Something that is asked after an ending. */
export interface Door {
  /** The column of the table. */
  readonly column: string
  /** Which process made what is asked with, if any did, and which one is asked. */
  readonly made: ProcessName | undefined
  readonly at: ProcessName
  readonly how: Column['how']
  /** Asks. A refusal is false. */
  ask(): Promise<boolean>
  /** The verdict of the oracle; undefined where both are right. */
  expects(judge: Judge): boolean | undefined
}

export type AllHeld = Readonly<Record<ProcessName, Held>>

/**
 * Opens every door before anything ends. The doors are in the order in which they are asked: what is looked at comes first,
 * for a question may end what should have ended by itself, and what is used up comes last.
 */
export async function openDoors(scene: Scene): Promise<{ readonly doors: readonly Door[]; readonly held: AllHeld }> {
  const held = { A: await holdAt(scene, 'A'), B: await holdAt(scene, 'B') }
  await settle()
  const doorsOf = (how: Column['how']) =>
    PROCESSES.toReversed().flatMap((at) =>
      PROCESSES.flatMap((made) =>
        COLUMNS.filter((column) => column.how === how && askedAt(column, made).includes(at))
          .filter(({ isThere }) => isThere?.(held[made]) ?? true)
          .map((column): Door => {
            const ask = () => column.ask({ scene, held: held[made], made, at })
            return { column: column.name, made, at, how, ask, expects: (judge) => column.expects(judge, made) }
          }),
      ),
    )
  return { doors: [...doorsOf('looked at'), ...doorsOf('asked'), ...loginDoors(scene), ...doorsOf('used up')], held }
}

/** Who logs in anew. */
function loginDoors(scene: Scene): readonly Door[] {
  const { logins } = scene
  return PROCESSES.toReversed().flatMap((at): readonly Door[] => {
    const process = scene.process(at)
    return [
      {
        column: 'new login',
        made: undefined,
        at,
        how: 'asked',
        ask: async () => {
          const zt = await logins.session(process)
          const asking = { zt, ...(await logins.beside()) }
          return zt !== undefined && (await process.ask('GET', '/edge/client/v1/services', asking)).status === 200
        },
        expects: (judge) => judge.logsIn(),
      },
      {
        column: 'new login by OpenID Connect',
        made: undefined,
        at,
        how: 'asked',
        ask: async () => (await logins.tokens(process)) !== undefined,
        expects: (judge) => judge.logsInByRedirect(),
      },
    ]
  })
}

/** Somebody else who logged in at the process A, and to whom nothing happens. */
export async function openBystander(
  scene: Scene,
): Promise<{ readonly doors: readonly Door[]; readonly subject: Subject }> {
  const way: Way = scene.subject.way === 'password' ? 'cert' : 'password'
  const subject = scene.network.subjects[way]
  const logins = new Logins(scene.network, subject, () => scene.two.now())
  await scene.r2('A').hostItself(subject.dials.serviceId, `of-r2-${way}`)
  const { zt, tokens, circuit } = await holdLittleAt({ ...scene, subject, logins }, 'A')
  const common = { made: 'A', at: 'B', how: 'asked' } as const
  const { certificate } = subject
  const doors: readonly Door[] = [
    {
      ...common,
      column: 'running circuit of somebody else',
      at: 'A',
      ask: async () => !scene.r1('A').unrouted.has(circuit),
      expects: (judge) => judge.dialsOn('bearer', 'A'),
    },
    {
      ...common,
      column: 'session of somebody else',
      ask: async () =>
        (await scene.process('B').ask('GET', '/edge/client/v1/services', { zt, certificate })).status < 300,
      expects: (judge) => judge.acts('zt', 'A'),
    },
    {
      ...common,
      column: 'refresh token of somebody else',
      how: 'used up',
      ask: async () => (await logins.refresh(scene.process('B'), tokens.refresh)) !== undefined,
      expects: (judge) => judge.refreshes('A'),
    },
  ]
  return { doors, subject }
}
