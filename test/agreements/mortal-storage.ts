import type { Storage } from 'portcullis'
import { type ReadTransaction, StorageUnavailable, type WriteTransaction } from 'portcullis/storage'
import type { Fault } from './mortal-identity.ts'
import type { Mortal, MortalSteps } from './mortal-steps.ts'

const NEVER = new Promise<never>(() => undefined)

/** The process ended in the middle of its transaction, which the database takes back. */
class Died extends Error {}

/** A process, the steps of which are the calls of its storage. */
export interface StorageProcess extends Mortal {
  readonly storage: Storage
}

/**
 * The storage of one process over a store that outlives it. Each call is a step: beginning or ending a read or a write, and each question
 * or change within. A write of a process that dies in it has no effect; one that was done has its effect, also when no caller learns of it.
 */
export function mortalStorage(
  store: Storage,
  steps: MortalSteps,
  faultOf: (step: { readonly name: string }) => Fault | undefined,
): StorageProcess {
  let died: () => void = () => undefined
  const death = new Promise<never>((_, reject) => {
    died = () => reject(new Died())
  })
  death.catch(() => undefined)
  const life = { isDead: false }
  const kill = () => {
    life.isDead = true
    died()
  }
  const failure = () => new StorageUnavailable('unreachable', 'the step failed')
  const step = <T>(name: string, work: () => Promise<T>, hasSteps = false): Promise<T> => {
    if (life.isDead) return NEVER
    return steps.take(life, faultOf({ name }), work, { kill, failure, hasSteps })
  }
  const reading = (tx: ReadTransaction): ReadTransaction => ({
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision, line) => step('changes', () => tx.changesSince(revision, line)),
    collection(kind) {
      const inner = tx.collection(kind)
      return {
        get: (id) => step('get', () => inner.get(id)),
        find: (query) => step('find', () => inner.find(query)),
        findIds: (query) => step('find', () => inner.findIds(query)),
        async *scan(fields) {
          await step('scan', async () => undefined)
          yield* inner.scan(fields)
        },
      }
    },
  })
  const writing = (tx: WriteTransaction): WriteTransaction => ({
    ...reading(tx),
    collection(kind) {
      const inner = tx.collection(kind)
      return {
        ...reading(tx).collection(kind),
        insert: (record) => step('insert', () => inner.insert(record)),
        update: (record) => step('update', () => inner.update(record)),
        delete: (id) => step('delete', () => inner.delete(id)),
      }
    },
  })
  const orNever = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof Died) return NEVER
      throw error
    }
  }
  const storage: Storage = {
    read: (work) => step('read', () => orNever(store.read((tx) => Promise.race([work(reading(tx)), death]))), true),
    write: (work) => step('write', () => orNever(store.write((tx) => Promise.race([work(writing(tx)), death]))), true),
    close: async () => undefined,
  }
  return {
    storage,
    get isDead() {
      return life.isDead
    },
    set isDead(value) {
      if (value) kill()
    },
  }
}
