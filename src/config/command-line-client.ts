/** Value of the header `x-svc-client-name` in all requests of the command line. */
export const COMMAND_LINE_CLIENT = 'svc-cli';
