// Devices on any runtime: one hosts a service, the other one dials it, both by keys and certificates of their own.
import { enrollDevice, openIdentity } from 'portcullis/sdk'

const devices = process.argv.slice(2).map(async (jwt) => openIdentity(await enrollDevice({ jwt })))
const [host, caller] = await Promise.all(devices)
const hosted = await host.host('payroll', (_request, response) => response.end('salaries'))
const response = await caller.fetch('http://payroll/')
const { data: seen } = await caller.client.call('GET /services')
console.log(response.status, await response.text(), seen.map(({ name }) => name).join())
await hosted.close()
await Promise.all([host.close(), caller.close()])
