/** Below these every path of a controller begins, but for those of the client API without version. */
const OWN_PATHS = ['/edge', '/fabric', '/oidc', '/portcullis', '/.well-known']

/**
 * The path of a request to a controller that an application mounts below `prefix`: the part behind the prefix. A prefix that is also a path
 * of the controller, as in `app.use('/edge', …)`, stays in it.
 */
export function withoutPrefix(target: string, prefix: string): string {
  const isOwn = OWN_PATHS.some((own) => prefix === own || prefix.startsWith(`${own}/`))
  if (isOwn || prefix === '' || !target.startsWith(prefix)) return target
  const rest = target.slice(prefix.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
