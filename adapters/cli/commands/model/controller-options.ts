/** The options that name a running controller. */
export const CONTROLLER_OPTIONS = {
  url: { value: 'https://HOST:PORT', variable: true, summary: 'the running controller' },
  ca: { value: 'FILE', summary: "the controller's trust bundle, PEM; default: the certificates of the system" },
} as const

/** How a command logs in to it, for help. */
export const CONTROLLER_DETAILS = `It logs in to a running controller with PORTCULLIS_ADMIN_USERNAME and
PORTCULLIS_ADMIN_PASSWORD.`
