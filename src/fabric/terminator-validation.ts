import type { EngineContext } from '../context/context.ts'
import type { FromRouter } from '../facts/fabric/messages/index.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { ConnectedRouter } from './channels/connected-routers.ts'
import type { HostedTerminators } from './hosted-terminators.ts'

type Validated = Extract<FromRouter, { type: 'terminators-validated' }>

/** The most terminators of one question. */
const TERMINATORS_PER_QUESTION = 500

/** Asks a router that connects which of its stored terminators it still has; the others are deleted. */
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
    for (let at = 0; at < own.length; at += TERMINATORS_PER_QUESTION) {
      const asked = own
        .slice(at, at + TERMINATORS_PER_QUESTION)
        .map(({ id, binding, address }) => ({ id, binding, address }))
      channel.send({ type: 'validate-terminators', terminators: asked, fixInvalid: true, asksHosts: false })
    }
  }

  /** The router answered. It may speak only for its own terminators. A terminator in `asked` stays: the question came from a comparison. */
  async answered(
    routerId: string,
    { states }: Validated,
    asked: ReadonlySet<string>,
  ): Promise<{ readonly hasForeign: boolean }> {
    const invalid = [...states].filter(([id, { valid }]) => !valid && !asked.has(id)).map(([id]) => id)
    return invalid.length === 0 ? { hasForeign: false } : this.#hosted.remove(routerId, invalid)
  }
}
