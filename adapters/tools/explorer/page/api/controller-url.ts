/** Where the controller that served the page is: what stands before the path of the page, without a slash at the end. */
export function controllerUrl(): string {
  return new URL('../..', document.baseURI).href.replace(/\/$/, '')
}
