import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { LoopHold } from '../fabric/loop-hold.ts'

/** Figures that a process tells of itself, where it can. */
export interface ToldOfProcess {
  /** Milliseconds for which its event loop was held at once since it was asked last. */
  readonly holdMs?: number
  /** Bytes that are left when the garbage collector has run. */
  readonly heldBytes?: number
}

/** A process whose processor time and memory are measured. */
export interface MeasuredProcess {
  /** Processor time that it has used so far, ms. */
  cpuMs(): Promise<number>
  /** Bytes of memory that it has from the system. */
  residentBytes(): Promise<number>
  /** Runs its garbage collector, where it has one that can be asked. */
  told(): Promise<ToldOfProcess>
}

/** Ticks of the system's account are 10 ms. */
const TICK_MS = 10
const PAGE_BYTES = 4096

/** Any process of this machine. */
export function processOf(pid: number, told: () => Promise<ToldOfProcess> = async () => ({})): MeasuredProcess {
  return {
    cpuMs: async () => {
      // The name of the program stands in parentheses and may hold spaces.
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    residentBytes: async () => {
      const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')
      return Number(pages) * PAGE_BYTES
    },
    told,
  }
}

/** Starts one of the programs here and gives it its first message; answers its answer too. */
export async function start<Answer>(program: string, message: object) {
  const execArgv = ['--conditions=portcullis-source', '--expose-gc']
  const child: ChildProcess = fork(new URL(program, import.meta.url), { execArgv })
  child.send(message)
  const [answer]: Answer[] = await once(child, 'message')
  if (answer === undefined || child.pid === undefined) throw new Error(`${program} did not start`)
  const told = async () => {
    child.send('told')
    const [facts]: ToldOfProcess[] = await once(child, 'message')
    return facts ?? {}
  }
  const stop = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { answer, process: processOf(child.pid, told), stop }
}

/**
 * Has the process that calls it answer every further message by what it tells of itself. The loop is watched from the first question on: the
 * timer of the watch costs 3 % of a processor.
 */
export function tellWhenAsked(): void {
  let hold: LoopHold | undefined
  process.on('message', () => {
    hold ??= new LoopHold()
    const holdMs = hold.take()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    // The collector held the loop too, which the next turn tells.
    setTimeout(() => {
      hold?.take()
      process.send?.({ holdMs, heldBytes: heapUsed + external })
    }, 10)
  })
}
