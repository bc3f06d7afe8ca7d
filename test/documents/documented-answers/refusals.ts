import { adminOf, foreignClient } from '../../contract/http/foreign-client.ts'
import { ROWS } from '../../support/api-rows.ts'
import type { Scene } from './scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Every operation, asked by whom it does not know, for what is not there, and in words that it does not understand. */
export const refusals: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  for (const { base, route } of ROWS) {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replaceAll(/\{\w+\}/g, 'unknown')
    const takesBody = ['POST', 'PUT', 'PATCH'].includes(method)
    const body = takesBody ? { body: {} } : {}
    await foreignClient(mounted, base).send(method, path, body)
    // A caller that ends its session cannot go on.
    if (template === '/current-api-session') continue
    const known = foreignClient(mounted, base, admin.token)
    await known.send(method, path, body)
    await known.send(method, `${path}?filter=nonsense(&limit=x`, body)
    await known.send(method, path, { ...body, headers: { accept: 'image/gif' } })
    if (!takesBody) continue
    await known.send(method, path, { body: '{', headers: JSON_TYPE })
    await known.send(method, path, { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  }
}
