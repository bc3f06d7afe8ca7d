import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { expect, it } from 'vitest'
import { adminOf, CLIENT } from '../contract/http/foreign-client.ts'
import { pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { person } from '../support/people.ts'

it.each(['alice', 'Zażółć & søn', 'a'.repeat(80)])('the QR code of %s reads as the provisioning URL', async (name) => {
  const mounted = await mount()
  const { api, provisioningUrl } = await pendingMfa(mounted, await person(mounted, await adminOf(mounted), name))
  const headers = { 'zt-session': api.token ?? '' }
  const response = await mounted.fetch(`${CLIENT}/current-identity/mfa/qr-code`, { headers })
  const { data, width, height } = PNG.sync.read(Buffer.from(await response.arrayBuffer()))
  expect(jsQR.default(new Uint8ClampedArray(data), width, height)?.data).toBe(provisioningUrl)
})
