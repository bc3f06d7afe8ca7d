/** Below these every path of a controller begins, but for those of the client API without version. */
const OWN_PATHS = ['/edge', '/fabric', '/oidc', '/portcullis', '/.well-known']

/**
 * The path that a controller is asked for when it is mounted below `prefix` in an application: what stands behind it. A prefix
 * that is a path of the controller's own, as in `app.use('/edge', …)`, belongs to the question.
 */
export function withoutPrefix(target: string, prefix: string): string {
  const isOwn = OWN_PATHS.some((own) => prefix === own || prefix.startsWith(`${own}/`))
  if (isOwn || prefix === '' || !target.startsWith(prefix)) return target
  const rest = target.slice(prefix.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
