import { createTestController } from 'portcullis/testing'
import { httpContract } from '../contract/http.ts'
import { mountOf } from '../support/mount.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** In process: what a framework adapter would hand over is handed to the controller directly. */
httpContract('controller.fetch', async (options) => mountOf(await createTestController(await withSharedPki(options))))
