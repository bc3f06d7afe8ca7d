/** What every answer tells of the controller that gave it. */
export interface ControllerIdentity {
  /** Changes whenever the process starts, which tells SDKs to send everything anew. */
  readonly instanceId: string
  /** The version that clients read, with a leading `v`. */
  readonly version: string
}

/**
 * The headers of every answer, whatever became of the request. An adapter that refuses a request before the controller
 * sees it gives them as well.
 */
export function answerHeaders({ instanceId, version }: ControllerIdentity): Readonly<Record<string, string>> {
  return {
    'ziti-instance-id': instanceId,
    server: `ziti-controller/${version}`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
}
