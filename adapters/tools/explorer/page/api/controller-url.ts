/** The base URL of the controller that served the page: the part before the path of the page, without a slash at the end. */
export function controllerUrl(): string {
  return new URL('../..', document.baseURI).href.replace(/\/$/, '')
}
