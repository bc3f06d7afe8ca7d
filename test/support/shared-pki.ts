import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { fakeClock, type TestControllerOptions } from 'portcullis/testing'

const made = new Map<number, Promise<PkiMaterial>>()

/**
 * Gives test controllers that name no certificates those of one network, where each would make its own: that takes a quarter
 * of the time of a test of a few requests. Who needs two networks makes another PKI.
 */
export async function withSharedPki<O extends TestControllerOptions>(options: O): Promise<O>
export async function withSharedPki(options?: TestControllerOptions): Promise<TestControllerOptions>
export async function withSharedPki(options: TestControllerOptions = {}): Promise<TestControllerOptions> {
  const { now = fakeClock().now(), pki, address, trustDomain } = options
  if ([pki, address, trustDomain].some((given) => given !== undefined)) return options
  // Certificates begin at the day's start, so that clocks that start at the real time share them as well.
  const day = new Date(now).setUTCHours(0, 0, 0, 0)
  const hosts = ['controller.test', 'localhost', '127.0.0.1']
  const material =
    made.get(day) ?? createPkiMaterial({ hosts, trustDomain: 'portcullis.internal', now: day, endTogether: true })
  made.set(day, material)
  return { ...options, pki: await material }
}
