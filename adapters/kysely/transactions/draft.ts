import type { Change, RecordKind } from '../core.ts'
import type { StoredState } from './state.ts'

/** What one write has done so far. */
export class Draft {
  readonly state: StoredState
  readonly changes: Change[] = []
  /** The first error by which a change may have been left half done; the write is then rolled back, caught or not. */
  failure: unknown

  constructor(state: StoredState) {
    this.state = state
  }

  note(kind: RecordKind, id: string, operation: Change['operation']): void {
    this.changes.push({ revision: this.state.revision + 1, kind: kind.name, id, operation })
  }
}
