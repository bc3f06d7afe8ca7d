// The work of a host on any runtime: an admin logs in, and a config that its type does not allow is refused.
import { createController } from 'portcullis'
import { createManagementClient } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'

const ADMIN = { username: 'admin', password: 'a-long-password' }

export async function story(options = {}) {
  const controller = await createController({
    storage: memoryStorage(),
    address: 'localhost:1280',
    admin: ADMIN,
    ...options,
  })
  const fetch = (request) => controller.fetch(request)
  const management = createManagementClient({ baseUrl: 'https://localhost:1280', fetch })
  const session = await management.call('POST /authenticate', { query: { method: 'password' }, body: ADMIN })
  const admin = management.withToken(session.data.token)
  const schema = { type: 'object', required: ['width'] }
  const { data: type } = await admin.call('POST /config-types', { body: { name: 'door', schema } })
  const configOf = (name, data) => admin.call('POST /configs', { body: { name, configTypeId: type.id, data } })
  await configOf('wide', { width: 1 })
  const refused = await configOf('narrow', {}).catch(({ code }) => code)
  await controller.close()
  return refused
}
