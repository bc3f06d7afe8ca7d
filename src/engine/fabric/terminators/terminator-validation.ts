import { equals } from '../../../domain/filter/index.ts'
import type { FromRouter } from '../../../ports/fabric/index.ts'
import { terminators } from '../../../resources/routers/terminators.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ConnectedRouter } from '../routers/connected-routers.ts'
import type { HostedTerminators } from './hosted-terminators.ts'

type Validated = Extract<FromRouter, { type: 'terminators-validated' }>

/** How many terminators are asked about in one message. */
const BATCH = 500

/** Asks a router that connects which of its stored terminators it still has; those that it lost go. */
export class TerminatorValidation {
  readonly #context: EngineContext
  readonly #hosted: HostedTerminators

  constructor(context: EngineContext, hosted: HostedTerminators) {
    this.#context = context
    this.#hosted = hosted
  }

  async ask({ id, channel }: ConnectedRouter): Promise<void> {
    const { items } = await this.#context.storage.read((tx) =>
      tx.collection(terminators).find({ where: equals('routerId', id) }),
    )
    const own = items.filter(({ binding }) => binding === 'edge' || binding === 'tunnel')
    for (let at = 0; at < own.length; at += BATCH) {
      const asked = own.slice(at, at + BATCH).map(({ id, binding, address }) => ({ id, binding, address }))
      channel.send({ type: 'validate-terminators', terminators: asked })
    }
  }

  /** The router answered. It speaks for its own terminators alone. */
  async answered(routerId: string, { states }: Validated): Promise<{ readonly hasForeign: boolean }> {
    const invalid = [...states].filter(([, { valid }]) => !valid).map(([id]) => id)
    return invalid.length === 0 ? { hasForeign: false } : this.#hosted.remove(routerId, invalid)
  }
}
