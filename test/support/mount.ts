import { X509Certificate } from 'node:crypto'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { onTestFinished } from 'vitest'
import type { MountedController } from '../contract/http/mount.ts'
import { withSharedPki } from './shared-pki.ts'

/** A fresh test controller, called in process; gone when the test is. */
export async function mount(options?: TestControllerOptions): Promise<MountedController> {
  const controller = await createTestController(await withSharedPki(options))
  onTestFinished(() => controller.close())
  return mountOf(controller)
}

/** A test controller that is called in process. */
export function mountOf(controller: TestController): MountedController {
  const url = 'https://controller.test:1280'
  return {
    url,
    controller,
    clock: controller.clock,
    fetch: (path, { body, authorizations = [], ...request } = {}, client) => {
      // Bytes, because a Request of text makes up a content type.
      const content = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const sent = new Request(`${url}${path}`, { ...request, ...(content === undefined ? {} : { body: content }) })
      for (const line of authorizations) sent.headers.append('authorization', line)
      const clientCertificates = client === undefined ? [] : chainOf(client.cert)
      return controller.fetch(sent, { remoteAddress: '127.0.0.1', clientCertificates })
    },
    dispose: () => controller.close(),
  }
}

/** The certificates of a PEM text, DER. */
function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}
