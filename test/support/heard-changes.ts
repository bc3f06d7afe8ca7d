import type { TestController } from 'portcullis/testing'
// Internals: the followers of writes, which hosts are not given.
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { contextOf } from '../../src/engine/entity-services.ts'

/** The changes since somebody began to listen, each as a line, sorted. */
export interface Changes {
  /** The writes that a follower heard. */
  readonly heard: readonly string[]
  /** The changes that the storage tells. */
  readonly told: readonly string[]
}

/** Begins to listen to the writes of a controller. Each call of the answer tells what happened since the one before. */
export async function listenToWrites({ engine, storage }: TestController): Promise<() => Promise<Changes>> {
  let heard: string[] = []
  let since = await storage.read(async (tx) => tx.revision)
  contextOf(engineOf(engine)).writes.follow(({ changes }) => {
    heard.push(...changes.filter(isFollowed).map(lineOf))
  })
  return () =>
    storage.read(async (tx) => {
      const told = (await tx.changesSince(since)) ?? []
      const result = { heard: heard.toSorted(), told: told.filter(isFollowed).map(lineOf).toSorted() }
      since = tx.revision
      heard = []
      return result
    })
}

/** The audit trail is written with the writes that it tells of, and is no change of theirs. */
function isFollowed({ kind }: { kind: string }): boolean {
  return !kind.startsWith('audit-')
}

function lineOf({ operation, kind, id }: { operation: string; kind: string; id: string }): string {
  return `${operation} ${kind} ${id}`
}
