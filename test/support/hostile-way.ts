import type { Identity, IdentityFile, IdentityOptions } from 'portcullis/sdk'
import type { Channel, ChannelListener } from '../../adapters/network/channel/channel.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { httpsFetch } from '../../adapters/network/enrollment/https-fetch.ts'
import { HeldCertificate } from '../../adapters/network/sdk/held-certificate.ts'
import { type Credentials, readIdentity } from '../../adapters/network/sdk/identity-file.ts'
import { identityOver } from '../../adapters/network/sdk/open-identity.ts'
import { connectToRouter } from '../../adapters/network/sdk/routers/router-pool.ts'

/** The changes of a router to the messages of one endpoint. A message for which it answers undefined is withheld. */
export interface Hostility {
  toRouter?(frame: Frame): Frame | undefined
  fromRouter?(frame: Frame): Frame | undefined
}

/** An identity whose router does with its messages what a test wants. */
export async function identityVia(
  file: IdentityFile,
  hostility: Hostility,
  options: IdentityOptions = {},
): Promise<Identity> {
  const { controllers, credentials } = await readIdentity(file)
  const certificate = new HeldCertificate(credentials)
  const fetchBy = (shown: Credentials | undefined) => httpsFetch({ ...shown, ca: shown?.ca ?? '' })
  const connect = async (address: string) => new HostileWay(await connectToRouter(address, credentials), hostility)
  return identityOver({ ...options, controllers, certificate, fetchBy, timer: processTimer, connect })
}

class HostileWay implements Channel {
  readonly #channel: Channel
  readonly #hostility: Hostility

  constructor(channel: Channel, hostility: Hostility) {
    this.#channel = channel
    this.#hostility = hostility
  }

  get queuedBytes(): number {
    return this.#channel.queuedBytes
  }

  send(message: Frame): void {
    const { toRouter = (frame: Frame) => frame } = this.#hostility
    const changed = toRouter(message)
    if (changed !== undefined) this.#channel.send(changed)
  }

  listen(listener: ChannelListener): void {
    this.#channel.listen({
      onMessage: (message) => {
        const { fromRouter = (frame: Frame) => frame } = this.#hostility
        const changed = fromRouter(message)
        if (changed !== undefined) listener.onMessage(changed)
      },
      onClose: () => listener.onClose(),
      onDrain: () => listener.onDrain?.(),
      onTrouble: (what) => listener.onTrouble?.(what),
    })
  }

  pause(): void {
    this.#channel.pause()
  }

  resume(): void {
    this.#channel.resume()
  }

  close(): void {
    this.#channel.close()
  }

  destroy(): void {
    this.#channel.destroy()
  }
}
