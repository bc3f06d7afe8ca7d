import { afterEach, describe } from 'vitest'
import type { Mount, MountedController } from './http/mount.ts'
import { describeVersion } from './http/version.ts'

/**
 * Declares the tests that a controller passes however it is mounted. They speak raw HTTP, as foreign clients do: status,
 * headers and JSON. `mount` answers a fresh controller for each test.
 */
export function httpContract(name: string, mount: Mount): void {
  describe(`http contract: ${name}`, () => {
    const mounts: MountedController[] = []
    const open: Mount = async (options) => {
      const mounted = await mount(options)
      mounts.push(mounted)
      return mounted
    }
    afterEach(async () => {
      for (const mounted of mounts.splice(0)) await mounted.dispose()
    })

    describe('version and CA certificates', () => describeVersion(open))
  })
}
