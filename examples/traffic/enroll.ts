import { writeFile } from 'node:fs/promises'
import type { Admin } from './network.ts'
import { type RouterConfig, routerConfig } from './router-config.ts'
import { runZiti } from './ziti.ts'

/** Creates a router and has the program enroll it, with files that begin as its configuration says; answers its id. */
export async function enrollRouter(
  admin: Admin,
  ziti: string,
  fields: { readonly name: string; readonly isTunnelerEnabled?: boolean },
  config: RouterConfig,
): Promise<string> {
  const { files } = config
  const id = await admin.create('/edge-routers', { roleAttributes: ['all'], ...fields })
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
  await writeFile(`${files}.jwt`, String(enrollmentJwt))
  await writeFile(`${files}.yml`, routerConfig(config))
  await runZiti(ziti, `${files}.log`, ['router', 'enroll', `${files}.yml`, '--jwt', `${files}.jwt`])
  return id
}

/** Creates a device with a role attribute and has the program enroll it into `<files>.json`; answers its id. */
export async function enrollDevice(
  admin: Admin,
  ziti: string,
  { name, role, files }: Record<'name' | 'role' | 'files', string>,
): Promise<string> {
  const fields = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
  const id = await admin.create('/identities', fields)
  const { enrollment } = await admin.call('GET', `/identities/${id}`)
  // An identity that was created with `ott` has this member until it enrolls.
  const { ott } = enrollment as { readonly ott: { readonly jwt: string } }
  await writeFile(`${files}.jwt`, ott.jwt)
  await runZiti(ziti, `${files}.log`, ['edge', 'enroll', '--jwt', `${files}.jwt`, '--out', `${files}.json`])
  return id
}
